internal import LarderHTTP
internal import LarderObjects

/// Runs `larder object put`, `get` and `remove`.
enum ObjectCommand {
  @Sendable static func put(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let (access, key) = (try ObjectAccess(arguments, context), try arguments.required(OperandSyntax.objectKey))
    let expires = try arguments[.expires].map { text in
      try TimePoint.parse(text, of: .expires, .later, in: arguments)
    }
    // Read before the store is opened: a file that cannot be read must not leave an empty store behind.
    let bytes = try context.read(arguments[OperandSyntax.objectFile] ?? "-", limit: ObjectAccess.options.valueByteLimit)
    return try await access.with(createsFile: true) { store in
      try await store.put(bytes, forKey: key, labels: arguments.values(.addedLabel), expires: expires)
      return .done
    }
  }

  @Sendable static func get(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let (access, key) = (try ObjectAccess(arguments, context), try arguments.required(OperandSyntax.objectKey))
    let printsMetadata = arguments.has(.objectMetadata) || arguments.has(.objectMetadataJSON)
    return try await access.with { store in
      if printsMetadata {
        guard let metadata = try await store.metadata(forKey: key) else { throw noValue(key) }
        if ResponseOutput.writesFile(arguments) { try await printBytes(ofKey: key, in: store, arguments, context) }
        if arguments.has(.objectMetadataJSON) {
          var json = JSONOutput(context.output)
          json.object(metadata)
          try json.endLine()
        } else {
          try context.output.write(ObjectText.lines(metadata))
        }
      } else {
        try await printBytes(ofKey: key, in: store, arguments, context)
      }
      return .done
    }
  }

  private static func printBytes(
    ofKey key: String, in store: ObjectStore, _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws {
    guard let (coding, bytes) = try await store.storedBytes(forKey: key) else { throw noValue(key) }
    let fields: HTTPFields = coding == .json ? [.contentType: "application/json"] : [:]
    try await ResponseOutput(arguments, context).print(status: nil, fields: fields, body: HTTPBodyStream(bytes))
  }

  private static func noValue(_ key: String) -> CommandFailure {
    CommandFailure(
      .negative, "the key \"\(key)\" has no value", hint: "'larder object list' shows the keys.")
  }

  @Sendable static func remove(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let (access, keys) = (try ObjectAccess(arguments, context), arguments.values(OperandSyntax.objectKeys))
    let selections = [
      !keys.isEmpty, arguments.has(.removedLabel), arguments.has(.notUpdatedSince), arguments.has(.allObjects),
    ]
    guard selections.count(where: { $0 }) == 1 else {
      throw arguments.usage(
        selections.contains(true)
          ? "keys, --label, --not-updated-since and --all cannot be combined" : "the values to remove are missing",
        hint: "Specify keys, or one of --label LABEL, --not-updated-since TIME and --all.")
    }
    let since = try arguments[.notUpdatedSince].map { text in
      try TimePoint.parse(text, of: .notUpdatedSince, .earlier, in: arguments)
    }
    return try await access.with { store in
      let count: Int
      var missing: [String] = []
      if let label = arguments[.removedLabel] {
        count = try await store.removeAll(label: label)
      } else if let since {
        count = try await store.removeAll(notUpdatedSince: since)
      } else if keys.isEmpty {
        count = try await store.removeAll()
      } else {
        (count, missing) = try await remove(keys, in: store)
      }
      try report(removed: count, missing: missing, asJSON: arguments.has(.json), context)
      guard !missing.isEmpty else { return .done }
      throw CommandFailure(
        .negative,
        missing.count == 1
          ? "the key \"\(missing[0])\" has no value" : "\(missing.count) keys have no value, such as \"\(missing[0])\"")
    }
  }

  /// Removes the values of the keys in one transaction; returns how many were removed, and the keys that had none.
  private static func remove(
    _ keys: [String], in store: ObjectStore
  ) async throws -> (count: Int, missing: [String]) {
    // Keys are compared by their bytes, as the store does.
    var uniqueKeys: Set<[UInt8]> = []
    let keys = keys.filter { uniqueKeys.insert(Array($0.utf8)).inserted }
    let missing = try await store.transaction { changes in
      var missing: [String] = []
      for key in keys where try !changes.removeValue(forKey: key) { missing.append(key) }
      return missing
    }
    return (keys.count - missing.count, missing)
  }

  private static func report(removed count: Int, missing: [String], asJSON: Bool, _ context: CommandContext) throws {
    guard asJSON else { return try context.output.line("removed: \(count)") }
    var json = JSONOutput(context.output)
    json.beginObject()
    json.member("removed", count)
    try json.member("missing", missing, always: true) { (json, key) throws(OutputError) in json.string(key) }
    json.endObject()
    try json.endLine()
  }
}
