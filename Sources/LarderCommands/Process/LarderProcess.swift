@_spi(Stores) internal import LarderCore

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

/// Runs ``CommandLineTool`` as a process, with standard streams, signals and the exit code.
public enum LarderProcess {
  /// Prepares the standard streams, and ends the process if it may open too few files. Call it before anything is
  /// awaited: the code that runs then ends the process with a signal if it cannot open a file.
  public static func prepare() {
    FileDescriptors.fillStandard()
    if !FileDescriptors.canOpen(neededFiles) { FileDescriptors.raiseLimit() }
    if FileDescriptors.canOpen(neededFiles) { return }
    let message =
      "larder: the limit of open files is too low: \(neededFiles) more are needed\n'ulimit -n 256' raises it.\n"
    try? FileDescriptors.write(Array(message.utf8), to: STDERR_FILENO)
    exit(CommandStatus.storage.code)
  }

  /// Runs the process's command line and returns the exit code.
  @concurrent public static func run() async -> Int32 {
    // A reader that closes the pipe early should cause an error of one write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let environment = ProcessInfo.processInfo.environment
    let context = CommandContext(
      output: port(STDOUT_FILENO, environment), diagnostics: port(STDERR_FILENO, environment),
      input: .descriptor(STDIN_FILENO), environment: environment, connect: { try CommandTransport.make($0) })
    let arguments = Array(arguments.dropFirst())
    let interruption = Interruption()
    defer { interruption.stop() }
    let work = Task { await CommandLineTool.run(arguments, in: context) }
    interruption.onFirst { work.cancel() }
    let status = await work.value
    return status == .interrupted ? interruption.code ?? status.code : status.code
  }

  /// The arguments with all their bytes: `CommandLine.arguments` replaces those that are not UTF-8.
  private static var arguments: [String] {
    (0..<Int(CommandLine.argc)).compactMap { index in
      CommandLine.unsafeArgv[index].map { argument in
        ByteText.text(of: UnsafeBufferPointer(start: argument, count: strlen(argument)).map(UInt8.init(bitPattern:)))
      }
    }
  }

  /// The number of files that a store with its readers, connections and the system's libraries open at once.
  private static let neededFiles = 64

  private static func port(_ descriptor: Int32, _ environment: [String: String]) -> OutputPort {
    let isTerminal = FileDescriptors.isTerminal(descriptor)
    let style = isTerminal ? TextStyle.forTerminal(environment: environment) : .plain
    return OutputPort(
      isTerminal: isTerminal, style: style, columns: { FileDescriptors.columns(descriptor) },
      end: { if !isTerminal { FileDescriptors.detach(descriptor) } },
      sink: { (bytes) throws(OutputError) in try FileDescriptors.write(bytes, to: descriptor) })
  }
}
