/// How a command ended, as the process tells its caller.
package struct CommandStatus: Sendable, Hashable {
  /// The process's exit code.
  package let code: Int32

  /// Done.
  package static let done = CommandStatus(code: 0)
  /// The answer is no: not found, a conflict, a refused or failed request.
  package static let negative = CommandStatus(code: 1)
  /// Used wrongly.
  package static let usage = CommandStatus(code: 2)
  /// The server or the network failed.
  package static let network = CommandStatus(code: 3)
  /// The disk, a corrupt file, a wrong key.
  package static let storage = CommandStatus(code: 4)
  /// Interrupted from the keyboard (128 and the signal's number).
  package static let interrupted = CommandStatus(code: 130)

  /// Every status with its meaning, for help.
  package static let documented: [(status: CommandStatus, meaning: String)] = [
    (.done, "done"),
    (.negative, "the answer is no: not found, a conflict, a refused or failed request"),
    (.usage, "used wrongly"),
    (.network, "the server or the network failed"),
    (.storage, "the disk, a file that is corrupt or not what it should be, a wrong key"),
    (.interrupted, "interrupted"),
  ]
}
