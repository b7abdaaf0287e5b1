public import Testing

/// A V4.01 service on the framework `odatapy` 5.3.0 with a model of our own: `Tests/Services/shop`.
public final class ODataPyService: SharedService {
  /// `.odataPy()`.
  public static let trait = ".odataPy()"

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

  /// Stops the server: connections are lost, and the port rejects new ones.
  public func stop() { process.stop() }
  /// Starts it again on its port, with fresh data.
  public func restart() throws(ServiceStartError) { try process.restart() }
}

extension Trait where Self == SharedServiceTrait<ODataPyService> {
  /// One `odatapy` service for all tests of the suite, as `ODataPyService.ofSuite`; the suite fails where it cannot
  /// start.
  public static func odataPy(_ arguments: String...) -> Self { Self(arguments: arguments) }
}
