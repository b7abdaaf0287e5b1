@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Renders queued requests as they are sent: with the service's keys, the ETag that the change was based on, and an
/// identifier by which the service recognizes a repetition.
///
/// An entity that an earlier request of the same change set creates is written as `$` and that request's Content-ID. An
/// entity that another request creates must exist at the service before.
struct RequestRendering {
  let version: ODataVersion
  let root: ODataServiceRoot
  /// Returns the location of an entity of the store at the service.
  var locate: (RowReference) throws -> RowLocation
  /// Returns the entity that a path of the caller's names, as in a header's placeholder; nil if there is none.
  var find: (String) throws -> RowReference? = { _ in nil }
  /// Opens the bytes that are stored under a number.
  var stream: (_ number: Int64, _ byteCount: Int64) -> (@Sendable () -> HTTPBodyStream)? = { _, _ in nil }

  /// Whether updates of an entity without an ETag are sent with `*`.
  var wantsAnyVersion: (RowReference) -> Bool = { _ in false }

  /// The effects of the earlier requests of a change set.
  struct ChangeSet {
    /// The Content-ID of the request that creates an entity, by the entity's identity.
    var createdIDs: [Int64: String] = [:]
    /// The entities that it has changed, whose ETag is no longer known.
    var changed: Set<Int64> = []
    /// The streams that it has changed: the entity and the path of the stream.
    var changedStreams: Set<QueuedTarget> = []
    /// Whether requests can refer to each other; false if they are sent one by one.
    var hasReferences = true
  }

  /// Renders a request.
  ///
  /// - Parameters:
  ///   - contentID: its Content-ID in a change set; nil outside one.
  ///   - set: the effects of the earlier requests of the change set; this request's effects are added.
  /// - Throws: ``RenderingError``, and `ODataValueError` for a key that has no literal.
  func request(
    _ queued: QueuedRequest, contentID: String? = nil, in set: inout ChangeSet
  ) throws -> ODataSingleRequest {
    let path = try target(queued, set)
    var request = ODataSingleRequest(operation(queued.operation), path, body: try body(queued, set), useCache: false)
    for header in queued.headers { request.fields[HTTPFieldName(header.name)] = try filled(header.value, set) }
    request.ifMatch = condition(queued, set)
    request.returnPreference = preference(queued)
    request.contentID = contentID
    request.customTag = queued.customTag
    if let row = queued.entity?.row {
      if queued.makesEntity, let contentID, set.hasReferences { set.createdIDs[row] = contentID }
      // A link to one of many entities has no condition that protects later changes of its source.
      if !queued.isOfManyLink { set.changed.insert(row) }
    }
    if queued.isOfStream { set.changedStreams.insert(queued.target) }
    return request
  }

  private func operation(_ operation: QueuedRequest.Operation) -> ODataSingleRequest.Operation {
    switch operation {
    case .create: .create
    case .patch, .patchProperty: .update(.patch)
    case .merge: .update(.merge)
    case .replace, .replaceProperty, .replaceValue: .update(.replace)
    case .delete, .deleteProperty: .delete
    case .createLink: .createLink
    case .updateLink: .updateLink
    case .deleteLink: .deleteLink
    case .action: .invokeAction
    case .createMedia: .createMedia
    case .updateMedia: .updateMedia
    case .deleteMedia: .deleteMedia
    }
  }

  // MARK: Paths

  private func path(of row: RowReference, _ set: ChangeSet) throws -> String {
    if let id = set.createdIDs[row.row] { return "$" + id }
    guard let path = try locate(row).path else { throw RenderingError.waits(row) }
    return path
  }

  /// The path of the resource that a request changes: the edit link of its entity, or of its bytes, and the rest of the
  /// request's path (OData Protocol 4.01 §4.3, JSON Format 4.01 §4.6.9, §4.6.14).
  private func changedPath(_ queued: QueuedRequest, _ row: RowReference, _ set: ChangeSet) throws -> String {
    var start = try path(of: row, set)
    var rest = queued.target.path.split(separator: "/")[...]
    if queued.goesToEditLink, !start.hasPrefix("$") {
      let location = try locate(row)
      let hasCast = rest.first?.contains(".") == true
      if queued.isOfStream, let last = rest.last,
        let link = location.mediaEditLinks[last == "$value" ? "" : String(last)]
      {
        return link
      }
      if let link = location.editLink {
        start = link
        if hasCast { rest = rest.dropFirst() }
      } else if let cast = location.cast, !hasCast {
        start += "/" + cast
      }
    }
    return ([start] + rest.map(String.init)).joined(separator: "/")
  }

  private func target(_ queued: QueuedRequest, _ set: ChangeSet) throws -> String {
    var path = queued.target.path
    if let row = queued.target.row { path = try changedPath(queued, row, set) }
    var query = queued.target.query
    switch queued.operation {
    case .createLink, .updateLink: path = linkPath(path)
    case .deleteLink:
      let reference: QueuedReference? = if case .reference(let reference) = queued.body { reference } else { nil }
      if version >= .v4 {
        if let reference { query = "$id=" + PercentEncoding.encode(try absolute(reference, set)) }
        path = linkPath(path)
      } else {
        path = linkPath(path) + (try reference.map { "(\(try key(of: $0)))" } ?? "")
      }
    default: break
    }
    return query.map { path + "?" + $0 } ?? path
  }

  /// `Orders(1)/Items` as the path of its references: `Orders(1)/Items/$ref`, before V4 `Orders(1)/$links/Items`.
  private func linkPath(_ path: String) -> String {
    guard version < .v4 else { return path + "/$ref" }
    guard let slash = path.lastIndex(of: "/") else { return path }
    return path[..<slash] + "/$links" + path[slash...]
  }

  private func key(of reference: QueuedReference) throws -> String {
    switch reference {
    case .row(let row):
      let location = try locate(row)
      guard location.path != nil else { throw RenderingError.waits(row) }
      return location.keyPredicate
    case .url(let url):
      guard let key = EntityID.segments(url).last?.key else {
        throw RenderingError.unfitting("the URL of a reference has no key")
      }
      return PercentEncoding.encode(key)
    }
  }

  /// The URL of a reference, which is absolute because services resolve relative ones differently. Within a change set
  /// it can be `$` and a Content-ID.
  private func absolute(_ reference: QueuedReference, _ set: ChangeSet) throws -> String {
    let path =
      switch reference {
      case .row(let row): try self.path(of: row, set)
      case .url(let url): url
      }
    return path.hasPrefix("$") ? path : try root.absoluteText(path)
  }

  // MARK: Contents

  private func body(_ queued: QueuedRequest, _ set: ChangeSet) throws -> ODataRequestBody {
    switch queued.body {
    case .none: return .none
    case .entity(let entity): return .entity(try self.entity(entity, set))
    case .properties(let properties): return .properties(try properties.map(property))
    case .parameters(let parameters): return .entity(try self.entity(parameters, set))
    case .reference(let reference):
      return queued.operation == .deleteLink ? .none : .reference(try absolute(reference, set))
    case .bytes(let bytes, let type): return .bytes(bytes, contentType: type)
    case .media(let number, let byteCount, let type):
      guard let open = stream(number, byteCount) else {
        throw RenderingError.unfitting("the content of the request is no longer in the store")
      }
      return .stream(length: Int(clamping: byteCount), contentType: type, open: open)
    }
  }

  /// The value of a property. If it is the key of another entity, this is the key that the service has assigned to
  /// that.
  private func value(_ property: QueuedProperty) throws -> ODataValue {
    guard let key = property.key else { return property.value.value }
    let location = try locate(key.row)
    guard location.path != nil, let value = location.key[key.property] else { throw RenderingError.waits(key.row) }
    return value
  }

  private func property(_ property: QueuedProperty) throws -> ODataProperty {
    ODataProperty(
      property.name, try value(property), annotations: property.annotations?.map(\.annotation) ?? [])
  }

  private func entity(_ queued: QueuedEntity, _ set: ChangeSet) throws -> ODataEntity {
    var entity = ODataEntity(typeName: queued.typeName)
    entity.id = try queued.reference.map { try absolute($0, set) }
    entity.annotations = queued.annotations?.map(\.annotation) ?? []
    for property in queued.properties {
      // Within a change set the service takes the key from the binding, because it is not known yet.
      if let key = property.key, set.createdIDs[key.row.row] != nil, binds(queued, key.row) { continue }
      entity.properties.append(try self.property(property))
    }
    for link in queued.links {
      var written = ODataNavigationLink(name: link.name)
      written.annotations = link.annotations?.map(\.annotation) ?? []
      written.bindings = try link.bindings.map { try absolute($0, set) }
      if link.path.count > 1 {
        entity.properties.bind(written.bindings, at: link.path[...])
        continue
      }
      let entities = try link.entities.map { try self.entity($0, set) }
      if link.isNull {
        written.content = .null
      } else if link.isCollection {
        let isEmpty = link.bindings.isEmpty && link.annotations == nil
        if !entities.isEmpty || isEmpty { written.content = .collection(ODataEntityCollection(entities: entities)) }
      } else if let first = entities.first {
        written.content = .entity(first)
      }
      entity.navigationLinks.append(written)
    }
    return entity
  }

  private func binds(_ entity: QueuedEntity, _ row: RowReference) -> Bool {
    entity.links.contains { $0.bindings.contains(.row(row)) }
  }

  // MARK: Fields

  /// The condition of a request: the ETag that the change was based on, or `*` if the caller requested that.
  ///
  /// A link to a single entity is part of its entity, and is sent with the entity's ETag (Protocol 4.01 §11.4.1.1).
  /// Before V4 it is sent without one ([MS-ODATA] 2.2.5.5, 3.1.4.4.1), unless the service has demanded it. Links to
  /// many entities have no condition: the ETag of a collection may differ from the entity's.
  ///
  /// An update of an entity without an ETag is sent with `*`: otherwise a service creates the entity anew if another client
  /// has deleted it, with only the properties that the update sets (Protocol 4.01 §11.4.4).
  ///
  /// A second change of an entity in one change set is sent with `*`: the ETag of the first change protects both, and
  /// the ETag between them is not known. A link to one of many entities is not such a first change.
  private func condition(_ queued: QueuedRequest, _ set: ChangeSet) -> String? {
    switch queued.operation {
    case .create, .createMedia, .createLink: return nil
    case .updateLink, .deleteLink:
      guard queued.isOfSingleLink, version >= .v4 || queued.wantsCondition == true else { return nil }
    case .patch, .merge, .replace, .delete, .replaceProperty, .patchProperty, .deleteProperty, .replaceValue, .action,
      .updateMedia, .deleteMedia:
      break
    }
    if let row = queued.entity?.row, set.createdIDs[row] != nil { return nil }
    if queued.ifMatch == "*" { return "*" }
    guard let etag = queued.resourceETag else {
      return queued.canCreateEntity && queued.entity.map(wantsAnyVersion) == true ? "*" : nil
    }
    if queued.isOfStream { return set.changedStreams.contains(queued.target) ? "*" : etag }
    if let row = queued.entity?.row, set.changed.contains(row) { return "*" }
    return etag
  }

  /// The caller's preference. Otherwise the response should contain the changed entity, so that it need not be read for
  /// its ETag and for values that the service computes.
  private func preference(_ queued: QueuedRequest) -> ODataSingleRequest.ReturnPreference? {
    if let preference = queued.returnPreference { return ODataSingleRequest.ReturnPreference(rawValue: preference) }
    switch queued.operation {
    case .create, .patch, .merge, .replace: return version >= .v4 ? .representation : nil
    default: return nil
    }
  }

  /// Replaces the placeholders in the value of a header field: `{key:Orders(-1)}` is the key in the service's URL of
  /// that entity, `{id:Orders(-1)}` is the URL. Other text in braces is kept.
  private func filled(_ text: String, _ set: ChangeSet) throws -> String {
    guard text.contains("{key:") || text.contains("{id:") else { return text }
    var result = ""
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      result += rest[..<open]
      rest = rest[open...]
      guard let close = rest.firstIndex(of: "}") else { break }
      let inner = rest[rest.index(after: open)..<close]
      let parts = inner.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0] == "key" || parts[0] == "id", let row = try find(String(parts[1])) {
        if parts[0] == "id" {
          result += try absolute(.row(row), set)
        } else {
          let location = try locate(row)
          guard location.path != nil else { throw RenderingError.waits(row) }
          result += location.keyPredicate
        }
      } else {
        result += rest[...close]
      }
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}

extension ODataSingleRequest {
  /// Whether it names an entity by the Content-ID of another request.
  var refersToRequest: Bool {
    if path.hasPrefix("$") { return true }
    switch body {
    case .reference(let target): return target.hasPrefix("$")
    case .entity(let entity): return entity.navigationLinks.contains { $0.bindings.contains { $0.hasPrefix("$") } }
    case .none, .properties, .bytes, .stream: return false
    }
  }
}

extension [ODataProperty] {
  /// Adds bindings to a navigation property of a complex value.
  fileprivate mutating func bind(_ urls: [String], at path: ArraySlice<String>) {
    guard let name = path.first, let target = path.dropFirst().first else { return }
    for index in indices where self[index].name == name {
      guard case .complex(var complex) = self[index].value else { continue }
      if path.count == 2 {
        complex.annotations += urls.map { ODataAnnotation(term: target + "@odata.bind", value: .string($0)) }
      } else {
        complex.properties.bind(urls, at: path.dropFirst())
      }
      self[index].value = .complex(complex)
    }
  }
}

extension QueuedRequest {
  /// Whether it changes the entity itself, and not its links or by an action.
  fileprivate var goesToEditLink: Bool {
    switch operation {
    case .patch, .merge, .replace, .delete, .replaceProperty, .patchProperty, .deleteProperty, .replaceValue,
      .updateMedia, .deleteMedia:
      true
    case .create, .createMedia, .createLink, .updateLink, .deleteLink, .action: false
    }
  }

  /// Whether it is an update of an entity, which creates the entity at some services if it does not exist.
  var canCreateEntity: Bool { operation == .patch || operation == .replace }

  /// Whether it creates ``entity``.
  var makesEntity: Bool { operation == .create || operation == .createMedia }
}
