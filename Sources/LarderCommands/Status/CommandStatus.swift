/// The result of a command, as the process reports it to its caller.
package struct CommandStatus: Sendable, Hashable {
  /// The process's exit code.
  package let code: Int32

  /// The command succeeded.
  package static let done = CommandStatus(code: 0)
  /// The result is negative: not found, a conflict, a rejected or failed request.
  package static let negative = CommandStatus(code: 1)
  /// The command line is wrong.
  package static let usage = CommandStatus(code: 2)
  /// The server or the network failed.
  package static let network = CommandStatus(code: 3)
  /// The disk, a corrupt file or a wrong key caused a failure.
  package static let storage = CommandStatus(code: 4)
  /// The user interrupted the command (128 plus the signal's number).
  package static let interrupted = CommandStatus(code: 130)

  /// Every status with its meaning, for the help text.
  package static let documented: [(status: CommandStatus, meaning: String)] = [
    (.done, "success"),
    (.negative, "negative result: not found, a conflict, a rejected or failed request"),
    (.usage, "wrong usage"),
    (.network, "the server or the network failed"),
    (.storage, "the disk failed, a file is damaged or unsuitable, or a key is wrong"),
    (.interrupted, "interrupted"),
  ]
}
