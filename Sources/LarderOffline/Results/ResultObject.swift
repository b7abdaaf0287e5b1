import LarderOData
import LarderService
import LarderStorage

/// A shape prepared for writing: names as bytes and values by column, determined once for all rows.
final class ResultObject: Sendable {
  let shape: ReadShape
  let identity: ResultIdentity
  let parts: [Part]
  let expands: [ResultExpand]
  /// Inline navigation properties within complex values, by the path of that value.
  let innerExpands: [String: [ResultExpand]]
  /// Those paths in ``innerExpands`` whose complex value is not shown itself.
  let hiddenPaths: [String]
  /// Navigation properties that are written as links: V2's deferred ones, and those of full metadata.
  let links: [Link]
  /// `"@odata.type":"#Ns.Type",` by type number. Verbose forms have the name alone; empty if the form has no type.
  let typeNames: [[UInt8]]
  /// Whether the key is not among the members, so that the id cannot be derived from them (JSON Format 4.01 §4.6.8).
  let hidesKey: Bool

  /// A part of an object.
  struct Part: Sendable {
    /// `"Name":`, with the type before it if the form shows it.
    let name: [UInt8]
    let kind: Kind
    /// By type number, whether a row has the part; empty for all.
    let types: [Bool]
    /// A column that is 0 in rows for which the part was not downloaded, and the column of its value; negative if all
    /// rows have the part.
    var presence: (column: Int32, value: Int32) = (-1, -1)
    /// How a value that does not fit its declared type is written; nil if there are none.
    var raw: Raw?

    /// `"Name@larder.rawValue":`, and where the text is.
    struct Raw: Sendable {
      let name: [UInt8]
      let column: Int32
      let storageClass: SQLStorageClass

      /// Writes the annotation in place of the property, and a comma. Returns false for a value that fits.
      func write(_ row: borrowing Row, into out: inout ResultBytes) -> Bool {
        guard row.storageClass(column) == storageClass else { return false }
        out.append(name)
        if storageClass == .text {
          unsafe out.string(row.utf8(column))
        } else {
          unsafe out.string(row.rawBytes(column))
        }
        out.append(UInt8(ascii: ","))
        return true
      }
    }

    enum Kind: Sendable {
      case cell(Int32, ResultCell)
      /// `conditions` of the members if values of derived types have different members; empty if all values have all.
      case complex(Int32, EdmStructure?, [Part], conditions: [Condition], path: String)
      case dynamic(Int32, Set<String>?)
      case stream(Int32, String)
      case link(ResultIdentity)
    }

    /// Which complex values have a member.
    struct Condition: Sendable {
      /// The member's name; nil for undeclared properties.
      let name: String?
      /// The types to which `$select` restricts the member; empty for all.
      let casts: [EdmStructure]

      func holds(_ type: EdmStructure) -> Bool {
        (name.map { type.property($0) != nil } ?? true)
          && (casts.isEmpty || casts.contains { type.isOrDerives(from: $0) })
      }
    }

    @inline(__always)
    func isOf(_ type: Int) -> Bool { types.isEmpty || type < types.count && types[type] }

    /// Whether the part was not downloaded with a row, and has no local value.
    @inline(__always)
    func isAbsent(_ row: borrowing Row) -> Bool {
      presence.column >= 0 && row.integer(presence.column) == 0 && row.isNull(presence.value)
    }
  }

  /// A navigation property that is not inline.
  struct Link: Sendable {
    let name: String
    let types: [Bool]
  }

  init(
    _ shape: ReadShape, options: ODataBoundOptions?, place: ResultIdentity.Place, declared: EdmStructure?,
    types: ResultTypes, depth: Int = 0, showsID: Bool = false
  ) {
    let form = types.form
    self.shape = shape
    identity = ResultIdentity(shape, place: place, form: form, types: types)
    let allTypes = shape.table?.types ?? []
    typeNames = allTypes.map { ResultObject.typeName($0, declared: declared, form: form) }
    let preparing = Preparing(types: types, typeCount: allTypes.count)
    parts = shape.members.compactMap { preparing.part($0, isDynamic: shape.type == nil) }
    let all = shape.expands.map { expand in
      ResultExpand(
        expand, options: expand.options ?? options?.options(of: expand), typeCount: allTypes.count, types: types,
        depth: depth + 1)
    }
    expands = all.filter { $0.expand.path.count == 1 || form.isVerbose }
    innerExpands = Dictionary(grouping: all.filter { $0.expand.path.count > 1 && !form.isVerbose }) {
      $0.expand.path.dropLast().joined(separator: "/")
    }
    let shown = ResultObject.complexPaths(parts)
    hiddenPaths = innerExpands.keys.filter { !shown.contains($0) }.sorted()
    hidesKey = showsID || ResultObject.hidesKey(shape)
    links = ResultObject.links(shape, options: options, form: form)
  }

  private static func complexPaths(_ parts: [Part]) -> [String] {
    parts.flatMap { part -> [String] in
      guard case .complex(_, _, let inner, _, let path) = part.kind else { return [] }
      return [path] + complexPaths(inner)
    }
  }

  private static func typeName(_ type: EdmStructure, declared: EdmStructure?, form: ResultForm) -> [UInt8] {
    if form.isVerbose { return ResultBytes.string(type.name) }
    let isShown = form.metadata == .full || form.metadata == .minimal && type.name != declared?.name
    return isShown
      ? Array("\"\(form.control)type\":".utf8) + ResultBytes.string("#\(type.name)") + [UInt8(ascii: ",")] : []
  }

  private static func hidesKey(_ shape: ReadShape) -> Bool {
    guard let table = shape.table else { return false }
    let shown = Set(shape.members.map(\.name))
    return table.key.contains { !(table.columns[$0].path.first.map(shown.contains) ?? true) }
  }

  /// Links of navigation properties that are neither expanded nor left out by `$select`.
  private static func links(_ shape: ReadShape, options: ODataBoundOptions?, form: ResultForm) -> [Link] {
    guard form.isVerbose || form.metadata == .full, let table = shape.table else { return [] }
    let selected = options?.select ?? []
    let names = Set(selected.compactMap { ResultPath.names($0.path).last })
    let showsAll = selected.isEmpty || names.contains("*") && !form.isVerbose
    return table.navigations.compactMap { navigation in
      guard navigation.path.count == 1, showsAll || names.contains(navigation.property.name) else { return nil }
      if form.isVerbose, shape.expands.contains(where: { $0.path == navigation.path }) { return nil }
      let owners = table.typeNumbers(derivedFrom: navigation.declaringType)
      let isAll = owners.count == table.types.count
      return Link(
        name: navigation.property.name, types: isAll ? [] : table.types.indices.map { owners.contains($0) })
    }
  }

  /// Creates parts from members.
  struct Preparing {
    let types: ResultTypes
    let typeCount: Int

    func part(_ member: ReadMember, isDynamic: Bool, below path: String = "") -> Part? {
      var part = prepared(member, isDynamic: isDynamic, below: path)
      if let presence = member.presence, let value = member.kind.value { part?.presence = (presence, value) }
      if member.mayBeRaw { part?.raw = raw(member) }
      return part
    }

    private func raw(_ member: ReadMember) -> Part.Raw? {
      let name = quoted("\(member.name)@\(RawValue.term)")
      switch member.kind {
      case .column(let column, let storage):
        return Part.Raw(name: name, column: column, storageClass: RawValue.storageClass(in: storage))
      case .complex(let marker, _):
        return Part.Raw(name: name, column: marker, storageClass: RawValue.storageClass(in: .complex))
      case .dynamic, .link: return nil
      }
    }

    private func prepared(_ member: ReadMember, isDynamic: Bool, below path: String) -> Part? {
      let isAnnotation = member.name.hasPrefix("@")
      if isAnnotation, types.form.isVerbose { return nil }
      let owners = ResultObject.flags(member.types, count: typeCount)
      let name = quoted(member.name)
      switch member.kind {
      case .column(let column, .stream):
        return Part(name: [], kind: .stream(column, member.name), types: owners)
      case .column(let column, let storage):
        let cell = ResultCell(storage, type: member.type, form: types.form, types: types)
        let type = isAnnotation ? [] : typed(member, isDynamic)
        return Part(name: type + name, kind: .cell(column, cell), types: owners)
      case .complex(let marker, let members):
        let declared = member.type.structure
        let memberPath = path.isEmpty ? member.name : "\(path)/\(member.name)"
        let cellMembers = members.filter { $0.kind.isCell }
        let isMixed = typeCount > 0 && cellMembers.contains { declared?.property($0.name) == nil }
        let hasCasts = members.contains { !$0.casts.isEmpty }
        let parts = members.compactMap { member in
          part(member, isDynamic: false, below: memberPath).map { part in
            (part: part, condition: Part.Condition(name: member.kind.isCell ? member.name : nil, casts: member.casts))
          }
        }
        return Part(
          name: name,
          kind: .complex(
            marker, declared, parts.map(\.part), conditions: isMixed || hasCasts ? parts.map(\.condition) : [],
            path: memberPath),
          types: owners)
      case .dynamic(let column, let only):
        return Part(name: [], kind: .dynamic(column, only), types: owners)
      case .link(let shape):
        let identity = ResultIdentity(shape, place: ResultExpand.place(shape), form: types.form, types: types)
        let name = types.form.isVerbose ? member.name : "\(member.name)\(types.form.control)navigationLink"
        return Part(name: quoted(name), kind: .link(identity), types: owners)
      }
    }

    private func quoted(_ name: String) -> [UInt8] {
      ResultBytes.string(name) + [UInt8(ascii: ":")]
    }

    /// `"Name@odata.type":"#Type",` if the form shows it.
    private func typed(_ member: ReadMember, _ isDynamic: Bool) -> [UInt8] {
      guard !types.form.isVerbose, types.form.metadata != .none else { return [] }
      let type = ValueType(member.type, in: types.model)
      guard let name = type.name, types.showsType(type, isDynamic: isDynamic) else { return [] }
      return quoted(member.name + types.form.control + "type") + ResultBytes.string("#\(name)") + [UInt8(ascii: ",")]
    }
  }

  /// For each type number, whether it is in the set; empty for all.
  static func flags(_ types: Set<Int>?, count: Int) -> [Bool] {
    guard let types else { return [] }
    return (0..<max(count, (types.max() ?? 0) + 1)).map { types.contains($0) }
  }
}

/// An inline navigation property, prepared for writing.
final class ResultExpand: Sendable {
  let expand: ReadExpand
  let options: ODataBoundOptions?
  let types: [Bool]
  /// Writes the rows; nil for counts.
  let object: ResultObject?
  /// The last part of the navigation property's URL.
  let path: [UInt8]
  /// The member's name.
  let name: String
  /// The start of an entity of any type: a context of its own (JSON Format 4.01 §4.6.1).
  let context: [UInt8]
  /// `"Name@odata.context":"…",` for a computed collection; empty for others.
  let ownContext: [UInt8]
  /// Statements for this position alone, made distinct by white space at the end: a running statement cannot run within
  /// itself.
  let sql: String
  let countSQL: String?

  init(
    _ expand: ReadExpand, options: ODataBoundOptions?, typeCount: Int, types: ResultTypes, depth: Int
  ) {
    self.expand = expand
    self.options = options
    self.types = ResultObject.flags(expand.types, count: typeCount)
    // In a complex value, the last step is the member's name. Verbose entries have no such members.
    name = types.form.isVerbose ? expand.path.joined(separator: "/") : expand.path.last ?? ""
    path = Array(expand.path.joined(separator: "/").utf8)
    let space = String(repeating: " ", count: depth)
    sql = expand.plan.sql + space
    countSQL = expand.plan.count.map { $0.sql + space }
    context = ResultExpand.context(expand, types.form)
    ownContext = ResultExpand.ownContext(expand, name: name, options: options, form: types.form)
    switch expand.plan.content {
    case .objects(let inner), .references(let inner):
      let isContained = inner.table?.isContained == true
      object = ResultObject(
        inner, options: options,
        place: isContained ? .contained(path, isCollection: expand.isCollection) : ResultExpand.place(inner),
        declared: expand.only == nil ? inner.type ?? inner.table?.type : nil, types: types, depth: depth,
        showsID: expand.only != nil)
    case .value, .count, .media: object = nil
    }
  }

  private static func ownContext(
    _ expand: ReadExpand, name: String, options: ODataBoundOptions?, form: ResultForm
  ) -> [UInt8] {
    guard !form.isVerbose, form.metadata != .none,
      let fragment = ResultContext.fragment(expand, options, form.version)
    else { return [] }
    var out = ResultBytes()
    out.string("\(name)\(form.control)context")
    out.append(UInt8(ascii: ":"))
    out.string("\(form.serviceRoot)$metadata#\(fragment)")
    out.append(UInt8(ascii: ","))
    return out.takeAll()
  }

  private static func context(_ expand: ReadExpand, _ form: ResultForm) -> [UInt8] {
    guard expand.only != nil, !form.isVerbose, form.metadata != .none, case .objects(let shape) = expand.plan.content,
      let table = shape.table
    else { return [] }
    var out = ResultBytes()
    out.append("\"\(form.control)context\":")
    let list = ResultContext.list(shape, expand.options, form.version)
    let fragment =
      switch table.place {
      case .entitySet(let name): name + list + "/$entity"
      case .singleton(let name): name + list
      case .containment, .type: table.type.name + list
      }
    out.string("\(form.serviceRoot)$metadata#\(fragment)")
    out.append(UInt8(ascii: ","))
    return out.takeAll()
  }

  /// The canonical location of a shape's entities, independent of the path that led to them.
  static func place(_ shape: ReadShape) -> ResultIdentity.Place {
    switch shape.table?.place {
    case .entitySet(let name)?: .set(Array(name.utf8))
    case .singleton(let name)?: .single(Array(name.utf8))
    case .containment?, .type?, nil: .unknown
    }
  }
}

extension ReadMember.Kind {
  /// The column that is null if there is no value.
  var value: Int32? {
    switch self {
    case .column(let column, _), .complex(let column, _), .dynamic(let column, _): column
    case .link: nil
    }
  }

  /// Whether the kind is a single member: undeclared properties are many.
  fileprivate var isCell: Bool { if case .dynamic = self { false } else { true } }
}
