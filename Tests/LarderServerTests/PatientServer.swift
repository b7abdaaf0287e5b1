import LarderServer

extension HTTPServer.Options {
  /// Deadlines that no test reaches, however slow its machine: of servers whose subject is something else.
  static var patient: HTTPServer.Options {
    var options = HTTPServer.Options()
    options.headTimeout = .seconds(3600)
    options.idleTimeout = .seconds(3600)
    return options
  }
}
