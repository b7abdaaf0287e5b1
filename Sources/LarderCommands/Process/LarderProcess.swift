#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// `larder` as a process: standard streams, signals and the exit code around ``Larder``.
public enum LarderProcess {
  /// Runs the process's command line; the result is the exit code.
  @concurrent public static func run() async -> Int32 {
    // A reader that leaves early shall be an error of one write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    FileDescriptors.fillStandard()
    let environment = ProcessInfo.processInfo.environment
    let context = CommandContext(
      output: port(STDOUT_FILENO, environment), diagnostics: port(STDERR_FILENO, environment),
      input: .descriptor(STDIN_FILENO), environment: environment, connect: { try Connection.transport($0) })
    let arguments = Array(CommandLine.arguments.dropFirst())
    let interruption = Interruption()
    defer { interruption.stop() }
    let work = Task { await Larder.run(arguments, in: context) }
    interruption.onFirst { work.cancel() }
    let status = await work.value
    return status == .interrupted ? interruption.code ?? status.code : status.code
  }

  private static func port(_ descriptor: Int32, _ environment: [String: String]) -> OutputPort {
    let isTerminal = FileDescriptors.isTerminal(descriptor)
    let style = isTerminal ? TextStyle.forTerminal(environment: environment) : .plain
    return OutputPort(
      isTerminal: isTerminal, style: style, columns: { FileDescriptors.columns(descriptor) },
      end: { if !isTerminal { FileDescriptors.detach(descriptor) } },
      sink: { (bytes) throws(OutputError) in try FileDescriptors.write(bytes, to: descriptor) })
  }
}
