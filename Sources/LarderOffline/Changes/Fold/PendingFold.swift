import LarderStorage

/// Effective = fold(base, effects): what the server has of a row or link, and what the requests that wait do to it, make
/// what readers see. Pure; everything that happens changes the base or the list of effects and folds anew.
enum PendingFold {
  /// The row that readers see; nil where there is none.
  ///
  /// - Parameters:
  ///   - base: the server's image; nil where it has none. One that ``EntityCells/isGone`` counts only while changes wait
  ///     on it: what the user has changed does not vanish because the server has removed the rest.
  ///   - effects: those on this row, in order.
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

  /// Of a base: the server has removed the row; these are its last cells, kept because changes wait on it.
  var isGone: Bool {
    get { self[Self.gone] != nil }
    set { self[Self.gone] = newValue ? .integer(1) : nil }
  }

  private static let keyless = "@keyless"

  /// Of a base: the service has the row, and the key that it has given it is not known yet.
  var isKeyless: Bool {
    get { self[Self.keyless] != nil }
    set { self[Self.keyless] = newValue ? .integer(1) : nil }
  }

  /// Of a base: the row was made here, and no download has brought it yet.
  var isMadeHere: Bool {
    get { (integer(.state) ?? 0) & LocalState.made != 0 }
    set { self[.state] = .integer(newValue ? LocalState.made : 0) }
  }

  /// What a reader tells apart: without the columns that only the store itself reads, and without NULLs.
  var content: EntityCells {
    var values = values.filter { $0.value != .null }
    for column in [SystemColumn.queries, .state, .etag] { values[column.rawValue] = nil }
    values[Self.gone] = nil
    values[Self.keyless] = nil
    return EntityCells(values)
  }
}

/// The bits of `@state`.
enum LocalState {
  /// Made here, and not downloaded back.
  static let made: Int64 = 1
  /// Requests wait to be sent.
  static let pending: Int64 = 2
  /// A request is in the error archive, or is held because of one there.
  static let failed: Int64 = 4
  /// The last download has inserted or updated the entity. In answers alone: ``DownloadMarks`` know it.
  static let upserted: Int64 = 8

  /// The instance annotations that say it of an entity.
  static let terms: [(bit: Int64, term: String)] = [
    (made, "sap.isLocal"), (pending, "sap.hasPendingChanges"), (failed, "sap.inErrorState"),
    (upserted, DownloadMarks.term),
  ]

  /// The bit of an annotation; nil for others.
  static func bit(of term: String) -> Int? { terms.first { $0.term == term }.map { Int($0.bit) } }
}
