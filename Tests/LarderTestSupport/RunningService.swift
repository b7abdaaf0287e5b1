import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One run of a service's process, from its start to its death.
final class RunningService: Sendable {
  let processID: pid_t
  let output: OutputTail
  /// Kept open as long as the service may live; never written to.
  private let lifeline: Int32

  private init(processID: pid_t, lifeline: Int32, output: OutputTail) {
    self.processID = processID
    self.lifeline = lifeline
    self.output = output
  }

  /// Starts the process. Returns when it listens and responds to its probe; otherwise throws an error with its output.
  static func start(_ command: ServiceProcess.Command, port: Int) throws(ServiceStartError) -> RunningService {
    let python = PackageRoot.path(".venv/bin/python")
    func failure(_ reason: String, _ output: OutputTail? = nil) -> ServiceStartError {
      ServiceStartError(service: command.module, reason: reason, output: output?.text ?? "")
    }
    guard access(python, X_OK) == 0 else {
      throw failure("\(python) does not exist; run Scripts/setup, or make test, which runs it")
    }
    let words =
      [python, "-I", PackageRoot.path("Tests/Services/launch.py"), command.module, "--port", String(port)]
      + command.arguments
    // One at a time: another start must not inherit a pipe between its making and its mark.
    guard let (processID, lifeline, printed) = spawning.withLock({ _ in spawn(words) }) else {
      throw failure("the process could not be created: \(String(cString: strerror(errno)))")
    }
    let service = RunningService(processID: processID, lifeline: lifeline, output: OutputTail())
    switch service.output.read(printed, until: command.readyText, within: .seconds(60)) {
    case .matched: break
    case .ended:
      let status = service.kill()
      close(printed)
      throw failure("it ended with status \(status)", service.output)
    case .timedOut:
      service.kill()
      close(printed)
      throw failure("it did not print '\(command.readyText)' within 60 seconds", service.output)
    }
    // From here a thread keeps the pipe empty, so that the service never waits for us.
    Thread.detachNewThread { [output = service.output] in
      output.drain(printed)
      close(printed)
    }
    let problem: String?
    do throws(PlainHTTPError) {
      let response = try PlainHTTP.send(port: port, target: command.probe)
      problem = response.status == 200 ? nil : "status \(response.status): \(response.text.prefix(500))"
    } catch {
      problem = error.description
    }
    if let problem {
      service.kill()
      throw failure("\(command.probe): \(problem)", service.output)
    }
    return service
  }

  /// Kills the process group and waits for the process. Returns its exit status (negative: the signal).
  @discardableResult
  func kill() -> Int32 {
    #if canImport(Glibc)
      _ = Glibc.kill(-processID, SIGKILL)
    #elseif canImport(Musl)
      _ = Musl.kill(-processID, SIGKILL)
    #else
      _ = Darwin.kill(-processID, SIGKILL)
    #endif
    close(lifeline)
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : -signal
  }
}

private let spawning = Mutex(())

/// Starts a process in a group of its own with pipes for its input and its output.
///
/// Returns its id, the write end of its input and the read end of its output, neither of which a later process
/// inherits.
private func spawn(_ words: [String]) -> (pid_t, Int32, Int32)? {
  guard let input = closedOnExecPipe() else { return nil }
  guard let output = closedOnExecPipe() else {
    close(input.read)
    close(input.write)
    return nil
  }
  defer {
    close(input.read)
    close(output.write)
  }
  #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    var attributes: posix_spawnattr_t?
    let flags = Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT)
  #else
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    let flags = Int16(POSIX_SPAWN_SETPGROUP)
  #endif
  posix_spawn_file_actions_init(&actions)
  posix_spawnattr_init(&attributes)
  defer {
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }
  posix_spawn_file_actions_adddup2(&actions, input.read, 0)
  posix_spawn_file_actions_adddup2(&actions, output.write, 1)
  posix_spawn_file_actions_adddup2(&actions, output.write, 2)
  posix_spawnattr_setflags(&attributes, flags)
  posix_spawnattr_setpgroup(&attributes, 0)

  var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
  arguments.append(nil)
  defer { for argument in arguments { free(argument) } }
  var processID: pid_t = 0
  let result = posix_spawn(&processID, words[0], &actions, &attributes, arguments, environ)
  guard result == 0 else {
    close(input.write)
    close(output.read)
    errno = result
    return nil
  }
  return (processID, input.write, output.read)
}

private func closedOnExecPipe() -> (read: Int32, write: Int32)? {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { return nil }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}

/// The last 64 kB that a process printed.
final class OutputTail: Sendable {
  enum Outcome { case matched, ended, timedOut }

  private let bytes = Mutex<[UInt8]>([])

  var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  /// Reads until a text was printed.
  func read(_ descriptor: Int32, until wanted: String, within limit: Duration) -> Outcome {
    let deadline = ContinuousClock.now + limit
    while true {
      let left = deadline - .now
      guard left > .zero else { return .timedOut }
      var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waited, 1, Int32(left / .milliseconds(1)) + 1)
      if ready < 0 && errno != EINTR { return .ended }
      if ready > 0 && !readOnce(descriptor) { return .ended }
      if text.contains(wanted) { return .matched }
    }
  }

  /// Reads to the end.
  func drain(_ descriptor: Int32) {
    while readOnce(descriptor) {}
  }

  private func readOnce(_ descriptor: Int32) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 8192)
    let count = chunk.withUnsafeMutableBytes { area in
      #if canImport(Glibc)
        Glibc.read(descriptor, area.baseAddress, area.count)
      #elseif canImport(Musl)
        Musl.read(descriptor, area.baseAddress, area.count)
      #else
        Darwin.read(descriptor, area.baseAddress, area.count)
      #endif
    }
    if count < 0 && errno == EINTR { return true }
    guard count > 0 else { return false }
    bytes.withLock { buffer in
      buffer.append(contentsOf: chunk[..<count])
      if buffer.count > 65536 { buffer.removeFirst(buffer.count - 65536) }
    }
    return true
  }
}
