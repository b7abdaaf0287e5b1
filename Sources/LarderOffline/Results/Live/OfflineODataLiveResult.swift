public import Observation

/// Live results for views: the latest answer as a property that is observed.
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
  /// The latest answer; nil before the first one, and where there is nothing.
  public private(set) var value: Value?
  /// Why there will be no more answers; nil while there may be.
  public private(set) var error: (any Error)?

  @ObservationIgnored private let results: OfflineODataLiveResults<Value?>

  /// Watches nothing yet.
  public init(_ results: OfflineODataLiveResults<Value>) { self.results = results.map { $0 } }

  /// Watches nothing yet; answers may be missing.
  public init(_ results: OfflineODataLiveResults<Value?>) { self.results = results }

  /// Keeps ``value`` up to date until the task is cancelled, the store closed, or an answer fails.
  public func run() async {
    error = nil
    do { for try await value in results { self.value = value } } catch { self.error = error }
  }
}
