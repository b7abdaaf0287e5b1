@_spi(Stores) import LarderCore
import LarderOData
package import LarderService

/// A change set that is being composed. Later changes refer to the entities of earlier ones by `$` and a name.
package struct ChangeSetDraft: Sendable {
  /// The requests, in their order.
  package private(set) var requests: [ODataSingleRequest] = []
  /// For each name, a path that has the type of the named entity in the model.
  fileprivate var examples: [String: String] = [:]

  /// Creates an empty draft.
  package init() {}

  /// The limit of a path, in bytes; no real request has a longer one.
  private static let pathByteLimit = 4096

  /// A path that the model can bind, in place of one that begins with `$` and a name; nil for other paths.
  fileprivate func example(_ path: String) throws(OfflineODataError) -> String? {
    guard path.hasPrefix("$") else { return nil }
    let name = String(path.dropFirst().prefix { $0 != "/" && $0 != "?" })
    guard let start = examples[name] else {
      throw OfflineODataError(.unfittingURL, "'$\(name)': no earlier change has the name '\(name)'")
    }
    let text = start + path.dropFirst(name.count + 1)
    guard text.utf8.count <= Self.pathByteLimit else {
      throw OfflineODataError(
        .unfittingURL, "the path is longer than \(Self.pathByteLimit) bytes: '\(path.prefix(200))'")
    }
    return text
  }

  fileprivate mutating func add(_ request: ODataSingleRequest, name: String?, example: String?) {
    var request = request
    request.contentID = name
    requests.append(request)
    if let name, let example { examples[name] = example }
  }
}

/// The first change of a change set that could not be applied, and why. Nothing was changed.
package struct ChangeSetError: Error {
  /// The index of the change, from 0.
  package let index: Int
  package let error: OfflineODataError
}

// Several changes that are applied in one transaction. The next upload sends them as one change set.
extension OfflineODataProvider {
  /// Adds a change whose content is read from JSON.
  ///
  /// - Parameters:
  ///   - name: the name by which later changes refer to the entity that this change creates or updates.
  ///   - configure: adds other properties to the request.
  package func add(
    _ operation: ODataSingleRequest.Operation, _ path: String, json: [UInt8]?, name: String?,
    to draft: inout ChangeSetDraft,
    _ configure: (inout ODataSingleRequest) -> Void
  ) async throws {
    let example = try draft.example(path)
    var request = try await self.change(operation, example ?? path, json: json)
    request.path = example == nil ? request.path : path + request.path.dropFirst(example?.count ?? 0)
    configure(&request)
    var entityPath = example ?? path
    if name != nil, operation == .create || operation == .createMedia {
      let collection = entityPath
      entityPath = try await openStore().read { [store = try openStore()] snapshot in
        try ChangeSetDraft.exampleEntityPath(in: collection, try store.changing(snapshot.plan))
      }
    }
    draft.add(request, name: name, example: entityPath)
  }

  /// Adds a change of a link.
  package func addLink(
    _ path: String, to target: String, removes: Bool, to draft: inout ChangeSetDraft,
    _ configure: (inout ODataSingleRequest) -> Void
  ) async throws {
    var request = try await linkChange(path, to: target, removes: removes, example: try draft.example(path))
    configure(&request)
    draft.add(request, name: nil, example: nil)
  }

  /// Applies the changes in one transaction: all of them, or none.
  ///
  /// Throws ``ChangeSetError`` for the first change that cannot be applied, and ``OfflineODataError`` for an error that
  /// concerns no single change.
  package func apply(_ draft: ChangeSetDraft) async throws -> [ODataSingleResponse] {
    let store = try openStore()
    for (index, request) in draft.requests.enumerated() {
      guard let set = store.storeSet(of: request.path) else { continue }
      throw ChangeSetError(
        index: index, error: OfflineODataError(.unsupportedChange, "\(set.rawValue) in a change set"))
    }
    let currentIndex = Locked<Int?>(nil)
    do throws(OfflineODataError) {
      return try await store.change(draft.requests, isChangeSet: true) { index in currentIndex.withLock { $0 = index } }
    } catch {
      guard let index = currentIndex.withLock({ $0 }) else { throw error }
      throw ChangeSetError(index: index, error: error)
    }
  }
}

extension ChangeSetDraft {
  /// The path of an entity of a collection. Its key has values of the right types and no meaning.
  fileprivate static func exampleEntityPath(in collection: String, _ context: ChangeContext) throws -> String {
    let path = try context.split(collection).path
    let bound = try context.bind(path)
    guard let type = bound.type?.item.structure else {
      throw OfflineODataError(.unsupportedChange, "only a change of an entity can have a name: '\(path.prefix(200))'")
    }
    let parts = try type.key.map { part in
      let path = part.path.split(separator: "/").map(String.init)
      let declared = path.count == 1 ? type.property(path[0])?.type : nil
      guard let primitive = declared.flatMap({ context.model.underlying($0).type.primitive }),
        let value = literals.lazy.compactMap({ try? ODataValue(text: $0, type: primitive) }).first
      else { throw OfflineODataError(.unsupportedChange, "a change of an entity of \(type.name) cannot have a name") }
      let literal = try value.urlLiteral(dialect: context.model.version.dialect)
      return type.key.count > 1 ? "\(part.name)=\(literal)" : literal
    }
    return "\(path)(\(parts.joined(separator: ",")))"
  }

  /// Literals: each type that a key can have accepts at least one of them.
  private static let literals = [
    "0", "", "false", "2000-01-01", "2000-01-01T00:00:00Z", "2000-01-01T00:00:00", "00:00:00", "PT0S",
    "00000000-0000-0000-0000-000000000000",
  ]
}
