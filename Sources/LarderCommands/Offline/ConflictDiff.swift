internal import LarderOData
internal import LarderOffline

/// A conflict, property by property: the base version, this clone's version, and the service's present version.
struct ConflictDiff {
  /// Which side changed a property.
  enum Change: String {
    /// Neither side.
    case none
    /// Only this clone.
    case mine
    /// Only the service.
    case theirs
    /// Both, to the same value.
    case same
    /// Both, to different values: an actual conflict.
    case both
  }

  /// One property; a value is nil if its version does not exist.
  struct Line {
    let name: String
    let base: ODataValue?
    let mine: ODataValue?
    let theirs: ODataValue?
    let change: Change
  }

  let conflict: OfflineODataConflict
  let lines: [Line]

  init(_ conflict: OfflineODataConflict) {
    self.conflict = conflict
    var names: [String] = []
    for entity in [conflict.base, conflict.mine, conflict.theirs] {
      for property in entity?.properties ?? [] where !names.contains(property.name) { names.append(property.name) }
    }
    lines = names.map { name in
      let (base, mine, theirs) = (conflict.base?[name], conflict.mine?[name], conflict.theirs?[name])
      return Line(
        name: name, base: base, mine: mine, theirs: theirs,
        change: Self.change(base, conflict.mine == nil ? base : mine, theirs ?? base))
    }
  }

  private static func change(_ base: ODataValue?, _ mine: ODataValue?, _ theirs: ODataValue?) -> Change {
    switch (mine == base, theirs == base) {
    case (true, true): .none
    case (false, true): .mine
    case (true, false): .theirs
    case (false, false): mine == theirs ? .same : .both
    }
  }

  // MARK: For people

  /// A table of the differing properties, or of all; `!` marks those that both changed differently.
  func text(style: TextStyle, all: Bool) -> String {
    var text = style.bold("request \(conflict.requestID), \(TerminalText.line(conflict.path))") + "\n"
    for note in notes { text += note + "\n" }
    let shown = lines.filter { all || $0.change != .none }
    guard !shown.isEmpty else { return text + "No property differs.\n" }
    let headings = ["", "property", "base", "mine", "theirs"]
    let cells = shown.map { line in
      [
        line.change == .both ? "!" : "", TerminalText.line(line.name), Self.cell(line.base),
        conflict.mine == nil ? "deleted" : Self.mark(line.mine, line.base),
        theirs(line),
      ]
    }
    let widths = headings.indices.map { column in Columns.width(([headings] + cells).map { $0[column] }) }
    func row(_ cells: [String], _ style: (String) -> String = { $0 }) -> String {
      let padded = cells.enumerated().map { $0 == headings.count - 1 ? $1 : Columns.pad($1, widths[$0]) }
      return style(padded.joined(separator: "  ")) + "\n"
    }
    text += row(headings, style.bold)
    for (line, cells) in zip(shown, cells) { text += row(cells) { line.change == .both ? style.red($0) : $0 } }
    return text
  }

  private var notes: [String] {
    var notes: [String] = []
    if conflict.mine == nil { notes.append("mine: deleted here") }
    if conflict.base == nil, conflict.mine != nil { notes.append("mine: created here") }
    if !conflict.isTheirsKnown {
      notes.append("theirs: unknown until the next download")
    } else if conflict.theirs == nil {
      notes.append("theirs: does not exist at the service")
    }
    return notes
  }

  private func theirs(_ line: Line) -> String {
    guard conflict.isTheirsKnown else { return "?" }
    return conflict.theirs == nil ? "deleted" : Self.mark(line.theirs, line.base)
  }

  /// The text of a value, or a dot if it equals that of the base.
  private static func mark(_ value: ODataValue?, _ base: ODataValue?) -> String {
    value == nil || value == base ? "." : cell(value)
  }

  private static func cell(_ value: ODataValue?) -> String {
    switch value {
    case nil: return "-"
    case .null?: return "null"
    case .string(let text)?: return TerminalText.line(text.isEmpty ? "''" : text)
    case .some(let value):
      if let text = try? value.text() { return TerminalText.line(text) }
      let collector = Collector()
      var json = JSONOutput(collector.port, isIndented: false)
      json.plain(value)
      try? json.flush()
      return TerminalText.line(collector.text)
    }
  }

  // MARK: For programs

  /// Writes `id`, `path`, the three complete versions, and the differing properties with the side that changed them.
  func write(to json: inout JSONOutput) throws(OutputError) {
    json.beginObject()
    json.member("id", conflict.requestID)
    json.member("path", conflict.path)
    json.member("customTag", conflict.customTag)
    json.member("isDeletion", conflict.isDeletion)
    json.member("isTheirsKnown", conflict.isTheirsKnown)
    for (name, entity) in [("base", conflict.base), ("mine", conflict.mine), ("theirs", conflict.theirs)] {
      json.name(name)
      guard let entity else {
        json.null()
        continue
      }
      json.beginObject()
      for property in entity.properties {
        json.name(property.name)
        json.plain(property.value)
      }
      json.endObject()
    }
    try json.member("properties", lines.filter { $0.change != .none }, always: true) {
      (json, line) throws(OutputError) in
      json.beginObject()
      json.member("name", line.name)
      json.member("changedBy", line.change.rawValue)
      for (name, value) in [("base", line.base), ("mine", line.mine), ("theirs", line.theirs)] {
        guard let value else { continue }
        json.name(name)
        json.plain(value)
      }
      json.endObject()
    }
    json.endObject()
  }
}

extension JSONOutput {
  /// Writes a value in OData's JSON for V4: complex values as objects of their members. Values are no deeper than
  /// readers allow.
  mutating func plain(_ value: ODataValue) {
    switch value {
    case .null: null()
    case .boolean(let flag): boolean(flag)
    case .string(let text), .enumeration(let text): string(text)
    case .collection(let items):
      beginArray()
      for item in items { plain(item) }
      endArray()
    case .complex(let complex):
      beginObject()
      for property in complex.properties {
        name(property.name)
        plain(property.value)
      }
      endObject()
    case .geo(let geo): string(geo.wellKnownText)
    default: writeScalar(value)
    }
  }
}
