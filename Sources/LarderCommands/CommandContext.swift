package import LarderHTTP

/// The world that a command works in: streams, environment, folder, network. The process's own, or a test's.
package struct CommandContext: Sendable {
  /// Where results go.
  package var output: OutputPort
  /// Where everything else goes: errors, warnings, progress.
  package var diagnostics: OutputPort
  /// What `-` stands for.
  package var input: StandardInput
  /// Environment variables.
  package var environment: [String: String]
  /// The folder that relative paths start from; empty for the process's own.
  package var directory: String
  /// Makes the transport that requests go out on.
  package var connect: @Sendable (ConnectionSettings) throws -> any HTTPTransport

  /// Makes a context.
  package init(
    output: OutputPort, diagnostics: OutputPort, input: StandardInput,
    environment: [String: String], directory: String = "",
    connect: @escaping @Sendable (ConnectionSettings) throws -> any HTTPTransport
  ) {
    self.output = output
    self.diagnostics = diagnostics.forPeople
    self.input = input
    self.environment = environment
    self.directory = directory
    self.connect = connect
  }

  /// A path as the user gave it, from the folder of `-C`.
  package func path(_ given: String) -> String {
    directory.isEmpty || given.hasPrefix("/") ? given : directory + "/" + given
  }

  /// The path that an input as the user gave it leads to, or standard input for `-`, in a message.
  func shown(_ given: String) -> String { given == "-" ? "standard input" : path(given) }

  /// The content of a file, or of standard input for `-`, of at most `limit` bytes.
  package func read(_ given: String, limit: Int = InputFile.limit) throws -> [UInt8] {
    guard given == "-" else { return try InputFile.read(path(given), limit: limit) }
    guard let bytes = try input.read(limit: limit) else {
      throw FileError(path: shown(given), reason: "it is larger than \(limit) bytes")
    }
    return bytes
  }

  /// A line on the diagnostic stream. That nobody reads it is no reason to fail.
  package func note(_ text: String) { try? diagnostics.line(text) }

  /// `warning: …` on the diagnostic stream.
  package func warn(_ text: String) { note(warning(text)) }

  /// Closes a store after its work is done. Where that fails it warns: the acknowledged changes are in the store's log, and the
  /// command has succeeded.
  func closing(_ close: () async throws -> Void) async {
    do { try await close() } catch {
      warn("what was done is done, but the store was not closed properly: \(CommandFailure(error).message)")
    }
  }

  /// Warns of a file with a secret in it that others than its owner may read.
  func warnIfOthersCanRead(_ given: String) {
    guard given != "-", InputFile.isReadableByOthers(path(given)) else { return }
    warn("\(path(given)) can be read by other users of this machine; chmod 600 it")
  }

  /// The line of a warning.
  func warning(_ text: String) -> String { diagnostics.style.yellow("warning:") + " " + TerminalText.line(text) }
}

/// What a transport must know beside the requests.
package struct ConnectionSettings: Sendable, Hashable {
  /// A file of certificates (PEM) to trust beside the system's.
  package var authorities: String?
  /// A file with the client's certificate: PEM, or PKCS #12 by the endings `.p12` and `.pfx`.
  package var certificate: String?
  /// A file with the key of the client's certificate (PEM).
  package var key: String?
  /// What decrypts the key.
  package var passphrase: String?
  /// True for a proxy: content and fields are handed on as they are.
  package var passesContent = false

  /// Nothing beyond the system's settings.
  package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil, passphrase: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
    self.passphrase = passphrase
  }
}
