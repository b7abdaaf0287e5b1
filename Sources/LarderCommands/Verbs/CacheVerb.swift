internal import LarderContent
internal import LarderHTTP
internal import LarderOnline
internal import LarderService
internal import LarderStorage

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension CommandSyntax {
  /// `larder cache list|show|clear`.
  static let cache: CommandSyntax = .init(
    "cache", summary: "list, show and clear cached responses, without a network",
    discussion: [
      "DIR is the folder of larder get, or of larder fetch or larder proxy. For the latter two, only totals are "
        + "listed: their entries are stored under digests of their URLs."
    ],
    examples: [
      "larder cache list --cache ~/.cache/larder",
      "larder cache show --cache ~/.cache/larder 'https://host/service/Products(1)'",
    ],
    subcommands: [
      CommandSyntax(
        "list", summary: "list the cached responses: size, status, times, ETag, URL",
        options: [.cacheFolder, .keyFile, .json],
        body: CacheListing.list),
      CommandSyntax(
        "show", summary: "print a cached response",
        discussion: ["If responses for several users or header fields are cached, the last used one is shown."],
        options: [.cacheFolder, .keyFile] + ResponseOutput.options, operands: [.cachedURL], body: CacheListing.show),
      CommandSyntax(
        "clear", summary: "remove all cached responses",
        discussion: [
          "A cache of larder get that another process uses is not changed, and the exit status is 4. A cache of "
            + "larder fetch or larder proxy is emptied even while they run. If the cache is encrypted or LARDER_KEY "
            + "is set, the next process can open it with any key, or none; a running proxy then caches nothing in it "
            + "until it is restarted. No key is needed."
        ],
        options: [.cacheFolder], body: CacheListing.clear),
    ])
}

/// Runs the three subcommands.
private enum CacheListing {
  @Sendable static func list(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    if let content = try content(arguments, context) { return try await count(content, arguments, context) }
    var entries: [TechnicalCacheFile.Entry] = []
    let files = try files(arguments, context, key: try KeyAccess.key(arguments, context))
    for file in files { entries += try await file.entries() }
    entries.sort { ($0.url, $0.stored) < ($1.url, $1.stored) }
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      json.beginArray()
      for entry in entries {
        write(entry, to: &json)
        try json.drain()
      }
      json.endArray()
      try json.endLine()
    } else if !entries.isEmpty {
      try context.output.write(table(entries, context.output.style))
    } else if context.diagnostics.isTerminal {
      context.note("The cache is empty.")
    }
    return .done
  }

  private static func write(_ entry: TechnicalCacheFile.Entry, to json: inout JSONOutput) {
    json.beginObject()
    json.member("url", entry.url)
    json.member("bytes", entry.payloadBytes)
    json.member("status", entry.httpStatus)
    json.member("etag", entry.fields[.etag])
    json.member("stored", entry.stored.formatted(.iso8601))
    json.member("lastUsed", entry.lastUsed.formatted(.iso8601))
    json.member("deltaLink", entry.deltaLink)
    json.endObject()
  }

  private static func table(_ entries: [TechnicalCacheFile.Entry], _ style: TextStyle) -> String {
    let headings = ["bytes", "status", "stored", "last used", "ETag", "URL"]
    let rows = entries.map { entry in
      [
        "\(entry.payloadBytes)", "\(entry.httpStatus)", entry.stored.formatted(.iso8601),
        entry.lastUsed.formatted(.iso8601), TerminalText.line(entry.fields[.etag] ?? "-"), TerminalText.line(entry.url),
      ]
    }
    let widths = headings.indices.map { column in Columns.width(([headings] + rows).map { $0[column] }) }
    func line(_ cells: [String]) -> String {
      let padded = cells.enumerated().map { column, cell in
        column < 2 ? Columns.padLeft(cell, widths[column]) : column == 5 ? cell : Columns.pad(cell, widths[column])
      }
      return padded.joined(separator: "  ") + "\n"
    }
    return style.bold(line(headings)) + rows.map(line).joined()
  }

  @Sendable static func show(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let target = try RequestTarget(try arguments.required(OperandSyntax.cachedURL), in: arguments)
    guard try content(arguments, context) == nil else {
      throw arguments.usage(
        "the folder contains a cache of larder fetch or larder proxy", hint: "'larder fetch --offline URL' prints it.")
    }
    var responses: [ODataSingleResponse] = []
    let files = try files(arguments, context, key: try KeyAccess.key(arguments, context))
    for file in files { responses += try await file.responses(to: target.url) }
    guard let response = responses.first else {
      throw CommandFailure(
        .negative, "the cache has no response for \(target.url)", hint: "'larder cache list' shows its responses.")
    }
    if responses.count > 1 {
      context.note(
        "\(responses.count) responses for different users or header fields are cached; this one was used last")
    }
    try await ResponseOutput(arguments, context).print(response)
    return .done
  }

  @Sendable static func clear(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    if try KeyAccess.key(arguments, context) == nil, let content = try plainContent(arguments, context) {
      try await content.removeAll()
      await content.close()
    } else {
      // A cache can be emptied even if its key is lost.
      try FileCache.clear(path: context.path(try arguments.required(OptionSyntax.cacheFolder)))
    }
    for file in try files(arguments, context) { try await file.clear() }
    return .done
  }

  /// The cache of `larder fetch` or `larder proxy` in the folder; nil if there is none.
  private static func content(_ arguments: ParsedArguments, _ context: CommandContext) throws -> FileCache? {
    let folder = context.path(try arguments.required(OptionSyntax.cacheFolder))
    guard FileCache.isPresent(at: folder) else { return nil }
    // Reading must not remove entries, whatever the size limit they were stored with.
    return try FileCache(path: folder, byteLimit: .max, encryptionKey: try KeyAccess.key(arguments, context))
  }

  /// The cache of `larder fetch` or `larder proxy` in the folder; nil if there is none, or if it is encrypted.
  private static func plainContent(_ arguments: ParsedArguments, _ context: CommandContext) throws -> FileCache? {
    let folder = context.path(try arguments.required(OptionSyntax.cacheFolder))
    do throws(CacheError) {
      return FileCache.isPresent(at: folder) ? try FileCache(path: folder, byteLimit: .max) : nil
    } catch .encrypted {
      return nil
    }
  }

  /// Counts the entries. They are stored by digests of their URLs, so they cannot be listed.
  private static func count(
    _ content: FileCache, _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> CommandStatus {
    let (entries, bytes) = (try content.count, try content.usedBytes)
    await content.close()
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      json.beginObject()
      json.member("contentEntries", entries)
      json.member("bytes", bytes)
      json.endObject()
      try json.endLine()
    } else {
      try context.output.line("content: \(entries) entries, \(bytes) bytes")
    }
    return .done
  }

  private static func files(
    _ arguments: ParsedArguments, _ context: CommandContext, key: StorageKey? = nil
  ) throws -> [TechnicalCacheFile] {
    let folder = try arguments.required(OptionSyntax.cacheFolder)
    guard InputFile.exists(context.path(folder)) else {
      throw FileError(path: context.path(folder), reason: "no such folder")
    }
    return try TechnicalCacheFile.files(in: context.path(folder), key: key)
  }
}

extension OptionSyntax {
  fileprivate static let cacheFolder = OptionSyntax("--cache", valueName: "DIR", .directory, "the cache's folder")
}

extension OperandSyntax {
  fileprivate static let cachedURL = OperandSyntax("URL", count: .one, value: .text, summary: "the URL that was read")
}
