import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why a service for tests did not start.
public struct ServiceStartError: Error, Sendable, CustomStringConvertible {
  /// Which one.
  public let service: String
  /// What happened.
  public let reason: String
  /// What it had printed, both standard output and standard error.
  public let output: String

  /// All of it.
  public var description: String {
    "\(service) did not start: \(reason)." + (output.isEmpty ? "" : " It printed:\n\(output)")
  }
}

/// A Python module of the project's `.venv` (or of `Tests/Services`) that runs as a service on a loopback port.
///
/// It lives at most as long as the test process, whatever that one dies of: see `Tests/Services/launch.py`.
public final class ServiceProcess: Sendable {
  /// The command to run, and how to check that the service responds.
  public struct Command: Sendable {
    /// The module that Python runs.
    public var module: String
    /// Its arguments but for the port.
    public var arguments: [String]
    /// Text that it prints when it listens.
    public var readyText: String
    /// A path that returns 200 without credentials.
    public var probe: String

    /// A command.
    public init(module: String, arguments: [String], readyText: String, probe: String) {
      self.module = module
      self.arguments = arguments
      self.readyText = readyText
      self.probe = probe
    }
  }

  /// The port it listens on, before and after a restart.
  public let port: Int
  private let command: Command
  private let running: Mutex<RunningService?>

  /// Starts the service on a free port, and returns when it responds.
  public init(_ command: Command) throws(ServiceStartError) {
    var attempt = 1
    while true {
      let port = try LoopbackPort.free()
      do throws(ServiceStartError) {
        let service = try RunningService.start(command, port: port)
        self.command = command
        self.port = port
        running = Mutex(service)
        return
      } catch {
        // Another process was quicker to take the port.
        guard attempt < 5, error.output.contains("Address already in use") else { throw error }
        attempt += 1
      }
    }
  }

  deinit { stop() }

  /// The process id while it runs.
  public var processID: Int32? { running.withLock { $0?.processID } }

  /// What it has printed so far (the last 64 kB).
  public var output: String { running.withLock { $0?.output.text } ?? "" }

  /// Kills the service and its children, and returns when they have ended: connections are lost, and the port rejects new ones.
  public func stop() {
    running.withLock { service in
      service?.kill()
      service = nil
    }
  }

  /// Starts the service again on the port it had; it begins with fresh data. Stops it first where it runs.
  public func restart() throws(ServiceStartError) {
    stop()
    let service = try RunningService.start(command, port: port)
    running.withLock { $0 = service }
  }

  /// The response to one request that is sent without any code of Larder.
  public func send(
    _ target: String, method: String = "GET", fields: [String: String] = [:], body: [UInt8] = []
  ) throws(PlainHTTPError) -> PlainResponse {
    try PlainHTTP.send(method, port: port, target: target, fields: fields, body: body)
  }
}

/// Runs a blocking call on a thread of its own, so that it holds none of those that async code shares.
public func onDedicatedThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
