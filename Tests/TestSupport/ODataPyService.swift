public import Testing

/// A V4.01 service on the framework `odatapy` 5.3.0 with a model of our own: `Tests/Services/shop`.
public final class ODataPyService: Sendable {
  /// The service's process: stop it, restart it, read what it printed.
  public let process: ServiceProcess

  /// Starts one with the given arguments (`--page-size N`, `--version 4.0` …; see `Tests/Services/shop/__main__.py`).
  public init(_ arguments: [String] = []) throws(ServiceStartError) {
    process = try ServiceProcess(
      .init(module: "shop", arguments: arguments, readyText: "listening on", probe: "/shop/"))
  }

  /// The port.
  public var port: Int { process.port }
  /// The service root, without a slash at its end.
  public var root: String { "http://127.0.0.1:\(process.port)/shop" }

  /// Stops the server: connections break, the port refuses.
  public func stop() { process.stop() }
  /// Starts it again on its port, with fresh data.
  public func restart() throws(ServiceStartError) { try process.restart() }

  @TaskLocal private static var shared: ODataPyService?

  /// The instance of the suite that this test belongs to; the suite has the trait `.odataPy()`.
  public static var ofSuite: ODataPyService {
    get throws(ServiceStartError) {
      guard let shared else {
        throw ServiceStartError(service: "odatapy", reason: "the suite lacks the trait .odataPy()", output: "")
      }
      return shared
    }
  }

  /// Runs one ``ODataPyService`` for the suite (or the test) it is put on.
  public struct SuiteService: SuiteTrait, TestTrait, TestScoping {
    let arguments: [String]

    /// Starts the service, runs the tests, stops it.
    @concurrent public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
      let service = try await onOwnThread { [arguments] in try ODataPyService(arguments) }
      defer { service.stop() }
      try await ODataPyService.$shared.withValue(service) { try await function() }
    }
  }
}

extension Trait where Self == ODataPyService.SuiteService {
  /// One `odatapy` service for all tests of the suite, as ``ODataPyService/ofSuite``; the suite fails where it cannot
  /// start.
  public static func odataPy(_ arguments: String...) -> Self { Self(arguments: arguments) }
}
