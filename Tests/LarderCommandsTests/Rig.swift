import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

/// What a command line did: its output, its diagnostics, its exit status.
struct Outcome {
  let status: CommandStatus
  let output: String
  let outputBytes: [UInt8]
  let diagnostics: String
}

/// Runs command lines in this process, with captured streams and the real transport.
struct Rig {
  var input: [UInt8] = []
  var environment: [String: String] = [:]
  var directory = ""
  var isTerminal = false

  func run(_ arguments: String...) async -> Outcome { await run(arguments) }

  func run(_ arguments: [String]) async -> Outcome {
    let output = Collector()
    let diagnostics = Collector()
    let status = await CommandLineTool.run(arguments, in: context(output, diagnostics))
    return Outcome(
      status: status, output: output.text, outputBytes: output.bytes, diagnostics: diagnostics.text)
  }

  func context(_ output: Collector, _ diagnostics: Collector) -> CommandContext {
    var context = CommandContext(
      output: output.port(isTerminal: isTerminal), diagnostics: diagnostics.port, input: .bytes(input),
      environment: environment, directory: directory, connect: { try CommandTransport.make($0) })
    context.pause = { _ in try Task.checkCancellation() }
    return context
  }
}

extension ScriptedServer {
  /// An absolute URL as a person would give it.
  func text(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}
