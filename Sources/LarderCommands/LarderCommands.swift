// The command line as a library: the executable `larder` consists of only a few lines.
//
// The stages of one call:
// 1. Syntax/   the tables of verbs, options and operands; `ArgumentParser` parses the arguments by them, `HelpText` and
//              the completion scripts are created from them.
// 2. Verbs/    the verbs, related ones in one file: their options, operands and actions (`demo` is in Demo/).
// 3. Access/   from a URL and options to a conversation or an open store: credentials, certificates, the service root.
// 4. Response/ writes a response to a stream or a file, and the events of a request; Batch/ a batch's file and
//              responses; Model/ a model and Payload/ a service's payload, for people and as JSON; Demo/ the steps of
//              `make demo`; Fetch/ any resource through the content cache; Proxy/ a server that runs until it is
//              terminated; Object/ values in the file of an object store; Parse/ trees of the OData language, and many
//              texts in one run; Generate/ the folder with generated Swift types; Offline/ a folder with a copy of a service.
// 5. Output/   streams, files, indentation; all output to a terminal passes `TerminalFilter`.
// 6. Status/   `CommandFailure` turns every error into one line, a hint and a `CommandStatus` (CommandFailure+errors). Context/ is
//              the environment of a command.
// 7. Process/  the real process: standard streams, signals.

/// The `larder` command.
package enum CommandLineTool {
  /// The version that `--version` shows.
  package static let version = "0.1.0"

  /// The tree of commands.
  package static let syntax: CommandSyntax = .init(
    "larder", summary: "read and change OData services, read any resource, work offline",
    examples: [
      "larder metadata https://host/service/",
      "larder get --cache ~/.larder 'https://host/service/Products?$top=5'",
      "larder fetch https://host/photo.jpg -o photo.jpg",
    ],
    subcommands: [
      .metadata, .get, .send, .batch, .clone, .download, .query, .create, .update, .delete, .link, .unlink, .action,
      .change, .undo,
      .status, .upload, .sync, .errors, .log, .key, .cache, .fetch, .record, .proxy, .object,
      .payload, .parse, .generate, .completion, .helpCommand, .demo,
    ])

  /// Runs one command line and returns its exit status; never throws.
  package static func run(_ arguments: [String], in context: CommandContext) async -> CommandStatus {
    defer { for port in [context.output, context.diagnostics] { port.finish() } }
    do {
      switch try ArgumentParser.parse(arguments, root: syntax) {
      case .version:
        try context.output.line("larder \(version)")
        return .done
      case .help(let command, let path):
        try context.output.write(HelpText.text(for: command, path: path, style: context.output.style))
        return .done
      case .run(let command, let parsed):
        var context = context
        if let directory = parsed[.changeDirectory] {
          try checkFolder(context.path(directory), given: directory, parsed)
          context.directory = context.path(directory)
        }
        guard let body = command.body else { return .usage }
        return try await body(parsed, context)
      }
    } catch {
      return report(error, in: context)
    }
  }

  /// Throws if the folder of `-C` does not exist, unless the command is the status of a clone that will be created
  /// there.
  private static func checkFolder(_ path: String, given: String, _ arguments: ParsedArguments) throws {
    guard !InputFile.isDirectory(path) else { return }
    guard let unfinished = UnfinishedClone(of: path) else {
      throw UsageError("-C \(given): no such folder", path: arguments.path)
    }
    guard arguments.path == [syntax.name, CommandSyntax.status.name] else { throw unfinished.failure }
  }

  private static func report(_ error: any Error, in context: CommandContext) -> CommandStatus {
    if let error = error as? OutputError, error == .closed { return .done }
    var failure = CommandFailure(error)
    if Task.isCancelled {
      // A verb's own hint says how to continue.
      failure = CommandFailure(
        .interrupted, "interrupted", hint: failure.status == .interrupted ? failure.hint : nil)
    }
    let label = context.diagnostics.style.red("larder:")
    context.note("\(label) \(TerminalText.line(failure.message))")
    if let hint = failure.hint { context.note(hint) }
    return failure.status
  }
}
