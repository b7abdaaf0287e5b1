internal import LarderObjects

extension ObjectCommand {
  @Sendable static func list(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let (access, listing) = (try ObjectAccess(arguments, context), try ObjectListing(arguments, context))
    return try await access.with { store in
      try await listing.run(store)
      return .done
    }
  }
}

/// Runs one `larder object list`: reads one page after the other, so that memory does not grow with the number of
/// values.
struct ObjectListing: Sendable {
  private let context: CommandContext
  private let selection: ObjectSelection
  private let limit: Int
  private let start: ObjectCursor?
  private let asJSON: Bool

  /// The number of values in memory at once.
  private static let pageSize = 256

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    self.context = context
    asJSON = arguments.has(.json)
    selection = try ObjectListing.selection(arguments)
    limit =
      try arguments[.objectLimit].map { text in
        guard let limit = Int(text), limit > 0 else {
          throw arguments.usage("--limit must be a positive number, not '\(text)'")
        }
        return limit
      } ?? .max
    start = try arguments[.afterCursor].map { text in
      guard let cursor = ObjectCursor(text) else {
        throw arguments.usage("--after must be a cursor that a list with --limit printed, not '\(text)'")
      }
      return cursor
    }
  }

  private static func selection(_ arguments: ParsedArguments) throws -> ObjectSelection {
    if arguments.has(.listedLabel), arguments.has(.labelPrefix) {
      throw arguments.usage("--label and --label-prefix cannot be combined")
    }
    if arguments.has(.keyPrefix), arguments.has(.fromKey) || arguments.has(.toKey) {
      throw arguments.usage("--prefix cannot be combined with --from or --to")
    }
    var selection = ObjectSelection.all
    if let label = arguments[.listedLabel] { selection = .label(label) }
    if let prefix = arguments[.labelPrefix] { selection = .labels(prefix: prefix) }
    if let prefix = arguments[.keyPrefix] {
      selection = selection.keys(prefix: prefix)
    } else if let last = arguments[.toKey] {
      selection = selection.keys(from: arguments[.fromKey], through: last)
    } else if let first = arguments[.fromKey] {
      selection = selection.keys(from: first)
    }
    return arguments.has(.reverse) ? selection.reversed : selection
  }

  /// Prints the list.
  func run(_ store: ObjectStore) async throws {
    if asJSON {
      var json = JSONOutput(context.output)
      json.beginArray()
      try await forEachPage(store) { items, next in
        for (index, metadata) in items.enumerated() {
          json.object(metadata, next: index == items.count - 1 ? next : nil)
          try json.drain()
        }
      }
      json.endArray()
      try json.endLine()
    } else {
      var table = ObjectListTable(style: context.output.style)
      try await forEachPage(store) { items, _ in try context.output.write(table.lines(items)) }
      if table.isEmpty, context.diagnostics.isTerminal { context.note("There are no values.") }
    }
  }

  /// Calls `body` with each page of values. If the limit ends the list after them, it also passes the cursor to
  /// continue from.
  private func forEachPage(
    _ store: ObjectStore, _ body: ([ObjectMetadata], ObjectCursor?) throws -> Void
  ) async throws {
    var (remaining, cursor) = (limit, start)
    repeat {
      try Task.checkCancellation()
      let page = try await store.metadata(selection, limit: min(remaining, ObjectListing.pageSize), after: cursor)
      remaining -= page.items.count
      cursor = remaining > 0 ? page.next : nil
      let end = remaining > 0 ? nil : page.next
      if !page.items.isEmpty { try body(page.items, end) }
      if let end { context.note("There are more values: --after \(end)") }
    } while cursor != nil
  }
}
