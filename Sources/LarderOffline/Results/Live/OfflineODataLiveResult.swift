public import Observation

/// Live results for views: the latest result as an observable property.
///
/// ```swift
/// @State private var orders: OfflineODataLiveResult<[Order]>
///
/// init(_ provider: OfflineODataProvider) throws {
///   _orders = State(initialValue: OfflineODataLiveResult(try provider.live([Order].self, "Orders")))
/// }
///
/// var body: some View { List(orders.value ?? []) { … }.task { await orders.run() } }
/// ```
@MainActor @Observable
public final class OfflineODataLiveResult<Value: Sendable> {
  /// The latest result; nil before the first one, and if there is no such entity or value.
  public private(set) var value: Value?
  /// The error that ended the results; nil while more results may follow.
  public private(set) var error: (any Error)?

  @ObservationIgnored private let results: OfflineODataLiveResults<Value?>

  /// Creates the property. Call ``run()`` to start watching.
  public init(_ results: OfflineODataLiveResults<Value>) { self.results = results.map { $0 } }

  /// Creates the property for results that may be nil. Call ``run()`` to start watching.
  public init(_ results: OfflineODataLiveResults<Value?>) { self.results = results }

  /// Keeps ``value`` up to date until the task is cancelled, the store is closed, or a read fails.
  public func run() async {
    error = nil
    do { for try await value in results { self.value = value } } catch { self.error = error }
  }
}
