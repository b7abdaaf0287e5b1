import LarderStorage

/// Computes the rows and links that readers see: effective = fold(base, effects), where the base is the server's
/// version and the effects are those of the pending requests. Every event changes the base or the list of effects, and
/// folds again. This type does no I/O.
enum PendingFold {
  /// The row that readers see; nil if it does not exist.
  ///
  /// - Parameters:
  ///   - base: the server's version; nil if the server does not have the row. A base that ``EntityCells/isGone`` counts
  ///     only while there are pending changes: the user's changes do not vanish because the server has deleted the row.
  ///   - effects: the effects on this row, in order.
  static func row(_ base: EntityCells?, _ effects: [Effect]) -> EntityCells? {
    var image = base
    if image?.isGone == true {
      if effects.isEmpty { return nil }
      image?.isGone = false
    }
    for effect in effects {
      switch effect.kind {
      case .insert:
        var cells = image ?? EntityCells()
        cells.merge(effect.cells)
        image = cells
      case .set: image?.merge(effect.cells)
      case .delete: image = nil
      case .link, .unlink: break
      }
    }
    return image
  }

  /// Whether readers see a link.
  static func link(_ base: Bool, _ effects: [Effect]) -> Bool {
    switch effects.last(where: { $0.kind == .link || $0.kind == .unlink })?.kind {
    case .link: true
    case .unlink: false
    default: base
    }
  }
}

extension EntityCells {
  private static let gone = "@gone"

  /// For a base: whether the server has deleted the row. The cells are the last ones known, kept because of pending
  /// changes.
  var isGone: Bool {
    get { self[Self.gone] != nil }
    set { self[Self.gone] = newValue ? .integer(1) : nil }
  }

  private static let keyless = "@keyless"

  /// For a base: whether the service has the row under a key that is not known yet.
  var isKeyless: Bool {
    get { self[Self.keyless] != nil }
    set { self[Self.keyless] = newValue ? .integer(1) : nil }
  }

  private static let links = "@linkETag"

  /// For a base: the ETag of the last version whose links are known, if a later one was read without its links; else
  /// nil. A link to a single entity that the user changes is based on it.
  var linkETag: String? {
    get { if case .text(let etag)? = self[Self.links] { etag } else { nil } }
    set { self[Self.links] = newValue.map { .text($0) } }
  }

  private static let old = "@oldETag"

  /// For a base: whether a change of the store may have given the entity another ETag, which could not be read.
  var isETagOld: Bool {
    get { self[Self.old] != nil }
    set { self[Self.old] = newValue ? .integer(1) : nil }
  }

  /// Takes a version of the service.
  ///
  /// - Parameter hidesLinks: whether the links of that version were not read.
  mutating func take(version cells: EntityCells, hidesLinks: Bool) {
    if let etag = cells.text(.etag) {
      isETagOld = false
      if hidesLinks, let ownETag = text(.etag), ownETag != etag { linkETag = linkETag ?? ownETag }
    }
    if !unread.isEmpty { unread.subtract(cells.values.keys) }
    merge(cells)
  }

  /// Copies ``linkETag``, ``isETagOld`` and ``unread`` from another base of the same row.
  mutating func takeMarks(_ other: EntityCells) {
    (linkETag, isETagOld, unread) = (other.linkETag, other.isETagOld, other.unread)
  }

  private static let unreadColumns = "@unread"

  /// For a base: the columns that the model did not have when the version was read, or that had values of another type which
  /// could not be converted. What the service has in them is not known, so they are not compared.
  var unread: Set<String> {
    get {
      guard case .text(let names)? = self[Self.unreadColumns] else { return [] }
      return Set(JSONSettings.decode([String].self, names) ?? [])
    }
    set { self[Self.unreadColumns] = newValue.isEmpty ? nil : .text(JSONSettings.encode(newValue.sorted())) }
  }

  private static let marks = [gone, keyless, links, old, unreadColumns]

  /// Whether the store keeps the base although no change is pending, because it has marks that are stored only there.
  var isKept: Bool { !isGone && (isKeyless || linkETag != nil || isETagOld) }

  /// A base without what only bases contain.
  var withoutMarks: EntityCells {
    var cells = self
    for mark in Self.marks { cells[mark] = nil }
    return cells
  }

  /// For a base: whether the row was created here and has not been downloaded yet.
  var isMadeHere: Bool {
    get { (integer(.state) ?? 0) & LocalState.made != 0 }
    set { self[.state] = .integer(newValue ? LocalState.made : 0) }
  }

  /// Whether readers can distinguish another version of the row. Columns that were not read with one of the two are not
  /// compared.
  func differs(from other: EntityCells) -> Bool {
    var (content, otherContent) = (content, other.content)
    for name in unread.union(other.unread) { (content[name], otherContent[name]) = (nil, nil) }
    return content != otherContent
  }

  /// The cells that readers can distinguish: without the columns that only the store reads, and without NULLs.
  var content: EntityCells {
    var cells = withoutMarks.withoutNulls
    for column in [SystemColumn.queries, .state, .etag] { cells[column] = nil }
    return cells
  }
}

/// The bits of `@state`.
enum LocalState {
  /// Created here, and not downloaded since.
  static let made: Int64 = 1
  /// Has pending requests.
  static let pending: Int64 = 2
  /// Has a request in the error archive, or one that is held because of a request there.
  static let failed: Int64 = 4
  /// The last download inserted or updated the entity. Only in results; it is stored in ``DownloadMarks``.
  static let upserted: Int64 = 8

  /// The instance annotations that represent the bits.
  static let terms: [(bit: Int64, term: String)] = [
    (made, "sap.isLocal"), (pending, "sap.hasPendingChanges"), (failed, "sap.inErrorState"),
    (upserted, DownloadMarks.term),
  ]

  /// The bit of an annotation; nil for other annotations.
  static func bit(of term: String) -> Int? { terms.first { $0.term == term }.map { Int($0.bit) } }
}
