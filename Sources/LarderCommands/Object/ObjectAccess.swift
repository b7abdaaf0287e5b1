internal import LarderObjects
internal import LarderStorage

/// The store that `--store` names, opened for one command.
struct ObjectAccess: Sendable {
  private let path: String
  private let key: StorageKey?
  private let context: CommandContext

  /// Nothing is cached in memory, and the file has no size limit: reading must not remove values.
  static let options = ObjectStoreOptions(memory: .none, warmUpCount: 0)

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    path = context.path(try arguments.required(OptionSyntax.objectStore))
    key = try KeyAccess.key(arguments, context)
    self.context = context
  }

  /// The file of an existing store.
  static func file(_ arguments: ParsedArguments, _ context: CommandContext) throws -> String {
    let path = context.path(try arguments.required(OptionSyntax.objectStore))
    try check(path)
    return path
  }

  private static func check(_ path: String) throws(FileError) {
    guard InputFile.exists(path) else { throw FileError(path: path, reason: "no such file") }
  }

  /// Opens the store, runs `body`, and closes the store in any case.
  ///
  /// - Parameter createsFile: whether a missing file is created; otherwise it is an error.
  func with(
    createsFile: Bool = false, _ body: (ObjectStore) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    if !createsFile { try ObjectAccess.check(path) }
    let store = try await ObjectStore(
      path: path, encryptionKey: key, options: ObjectAccess.options,
      onDiagnostic: { [context] in context.warn($0.message) })
    let status: CommandStatus
    do { status = try await body(store) } catch {
      try? await store.close()
      throw error
    }
    await context.warnIfClosingFails { try await store.close() }
    return status
  }
}

/// Describes a store's failure for the command line.
enum ObjectFailure {
  static func failure(_ error: ObjectStoreError) -> CommandFailure {
    if case .storage(let storageError) = error.category, storageError.isKeyError {
      return CommandFailure(.storage, error.description, hint: KeyAccess.hint)
    }
    return CommandFailure(status(error), error.description)
  }

  private static func status(_ error: ObjectStoreError) -> CommandStatus {
    switch error.category {
    case .invalidKey, .invalidLabel, .tooManyLabels, .invalidCursor: .usage
    case .gone, .absent: .negative
    case .tooLarge, .typeMismatch, .undecodable, .unencodable, .damaged, .closed, .suspended, .storage: .storage
    }
  }
}
