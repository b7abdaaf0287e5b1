import LarderOData

/// What the service has said about the URLs of an entity beyond the conventions: its id, and where changes go (OData JSON
/// Format 4.01 §4.6.8, §4.6.9). It is the content of ``SystemColumn/uri``.
struct EntityLinks: Sendable, Hashable {
  /// Where changes of the entity go.
  enum Edit: Sendable, Hashable {
    /// To its id, with the cast of a derived type.
    case conventional
    /// To this URL.
    case url(String)
    /// Nowhere: the service gives only a link for reading.
    case readOnly
  }

  /// The id; nil if it is that of the conventions.
  var id: String?
  var edit = Edit.conventional

  init(id: String? = nil, edit: Edit = .conventional) {
    self.id = id
    self.edit = edit
  }

  // The text is the id, and after a line feed, which no URL contains, the edit link, empty for a read-only entity.
  init(_ text: String?) {
    guard let text else { return }
    guard let end = text.firstIndex(of: "\n") else {
      id = text
      return
    }
    id = end == text.startIndex ? nil : String(text[..<end])
    let link = text[text.index(after: end)...]
    edit = link.isEmpty ? .readOnly : .url(String(link))
  }

  /// The stored form; nil if everything is as the conventions say.
  var text: String? {
    switch edit {
    case .conventional: id
    case .url(let link): (id ?? "") + "\n" + link
    case .readOnly: (id ?? "") + "\n"
    }
  }
}

/// The links in one representation of an entity.
struct GivenLinks: Sendable, Hashable {
  var id: String?
  var editLink: String?
  var readLink: String?

  /// A URL from which the key can be taken.
  var any: String? { id ?? editLink ?? readLink }

  /// What of the links differs from the conventions.
  ///
  /// - Parameters:
  ///   - base: the service's root as the payload spells it; nil if it does not.
  ///   - isFull: whether the payload has full metadata, so that a link which is absent does not exist.
  ///   - type: the entity's type.
  func stored(
    in table: EntityTable, type: EdmStructure, version: ODataVersion, base: String? = nil, isFull: Bool = false
  ) -> EntityLinks {
    // Before V4 the edit link is also the id. An entity without a key needs one.
    let id = id ?? (version < .v4 ? editLink : table.key.isEmpty ? any : nil)
    var links = EntityLinks(id: id)
    if let id, !table.key.isEmpty, EntityID.isConventional(id, in: table) { links.id = nil }
    guard !table.key.isEmpty else { return links }
    if let editLink {
      let relative = base.flatMap { editLink.hasPrefix($0) ? String(editLink.dropFirst($0.count)) : nil } ?? editLink
      let cast = version >= .v4 && type.name != table.type.name ? type.name : nil
      if editLink != id, !EntityLinks.isConventional(relative, in: table, cast: cast) { links.edit = .url(relative) }
    } else if isFull, readLink != nil {
      links.edit = .readOnly
    }
    return links
  }
}

extension EntityLinks {
  /// Whether an edit link is the one that the conventions give.
  ///
  /// - Parameter cast: the type of an entity of a derived type.
  static func isConventional(_ link: String, in table: EntityTable, cast: String?) -> Bool {
    var steps = EntityID.segments(link)[...]
    if cast != nil || steps.last.map({ $0.key == nil && $0.name.contains(".") }) == true {
      guard steps.popLast()?.name == cast else { return false }
    }
    guard let last = steps.last else { return false }
    switch table.place {
    case .entitySet(let name), .singleton(let name):
      return last.name == name && (steps.count == 1 || link.contains("://"))
    case .containment(_, let path): return last.name == path.last
    case .type: return true
    }
  }

  /// Whether a link for changing bytes is the one that the conventions give: that of the entity, and the stream.
  static func isConventional(stream link: String, named name: String, in table: EntityTable) -> Bool {
    var steps = EntityID.segments(link)
    guard steps.popLast()?.name == (name.isEmpty ? "$value" : name) else { return false }
    if steps.last.map({ $0.key == nil && $0.name.contains(".") }) == true { steps.removeLast() }
    return switch table.place {
    case .entitySet(let set), .singleton(let set): steps.last?.name == set
    case .containment(_, let path): steps.last?.name == path.last
    case .type: true
    }
  }
}
