internal import LarderCore
package import LarderHTTP

/// The environment of a command: streams, variables, folder, network. It is the process's own, or a test's.
package struct CommandContext: Sendable {
  /// The stream for results.
  package var output: OutputPort
  /// The stream for everything else: errors, warnings, progress.
  package var diagnostics: OutputPort
  /// The input that `-` means.
  package var input: StandardInput
  /// Environment variables.
  package var environment: [String: String]
  /// The folder that relative paths start from; empty for the process's own.
  package var directory: String
  /// Creates the transport for requests.
  package var connect: @Sendable (ConnectionSettings) throws -> any HTTPTransport
  /// Waits before a failed request is repeated.
  package var pause: @Sendable (Duration) async throws -> Void = LarderEnvironment.system.sleep

  /// Creates a context.
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

  /// The path of a file that the user named, relative to the folder of `-C`.
  package func path(_ given: String) -> String {
    directory.isEmpty || given.hasPrefix("/") ? given : directory + "/" + given
  }

  /// The name of an input for messages: the path, or "standard input" for `-`.
  func displayName(of given: String) -> String { given == "-" ? "standard input" : path(given) }

  /// The content of a file, or of standard input for `-`, of at most `limit` bytes.
  package func read(_ given: String, limit: Int = InputFile.limit) throws -> [UInt8] {
    guard given == "-" else { return try InputFile.read(path(given), limit: limit) }
    guard let bytes = try input.read(limit: limit) else {
      throw FileError(path: displayName(of: given), reason: "it is larger than \(limit) bytes")
    }
    return bytes
  }

  /// Writes a line to the diagnostic stream. A failure to write it is ignored.
  package func note(_ text: String) { try? diagnostics.line(text) }

  /// Writes `warning: …` to the diagnostic stream.
  package func warn(_ text: String) { note(warning(text)) }

  /// Closes a store after the work is done. A failure is only a warning: the acknowledged changes are in the store's
  /// log, and the command has succeeded.
  func warnIfClosingFails(_ close: () async throws -> Void) async {
    do { try await close() } catch {
      warn("the operation is complete, but the store was not closed properly: \(CommandFailure(error).message)")
    }
  }

  /// Warns about a file with a secret that others than its owner may read.
  func warnIfOthersCanRead(_ given: String) {
    guard given != "-", InputFile.isReadableByOthers(path(given)) else { return }
    warn("\(path(given)) can be read by other users of this machine; chmod 600 it")
  }

  /// The text of a warning.
  func warning(_ text: String) -> String { diagnostics.style.yellow("warning:") + " " + TerminalText.line(text) }
}

/// The transport's settings, apart from the requests.
package struct ConnectionSettings: Sendable, Hashable {
  /// A file of certificates (PEM) to trust in addition to the system's.
  package var authorities: String?
  /// A file with the client's certificate: PEM, or PKCS #12 by the endings `.p12` and `.pfx`.
  package var certificate: String?
  /// A file with the key of the client's certificate (PEM).
  package var key: String?
  /// The passphrase that decrypts the key.
  package var passphrase: String?
  /// True for a proxy: content and fields are passed on unchanged.
  package var passesContent = false

  /// Creates settings; by default only the system's apply.
  package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil, passphrase: String? = nil) {
    self.authorities = authorities
    self.certificate = certificate
    self.key = key
    self.passphrase = passphrase
  }
}
