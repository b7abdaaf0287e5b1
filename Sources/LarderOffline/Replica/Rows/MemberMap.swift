import LarderOData

/// Maps the names of a payload's members to a table. Each name is looked up once, then found by its number.
struct MemberMap {
  /// The meaning of a member.
  struct Member {
    enum Kind: UInt8 { case unknown, column, complex, whole, stream, navigation, dynamic, undeclared, ignored }
    var kind: Kind
    /// The number of the column or navigation property.
    var index: Int32 = -1
  }

  let table: EntityTable
  let typeNumber: Int
  /// The path of the complex properties that contain the members.
  let prefix: [String]
  /// The column of undeclared properties at this position; -1 for none.
  let dynamicColumn: Int
  private var members: [Member] = []

  init(table: EntityTable, typeNumber: Int, prefix: [String]) {
    self.table = table
    self.typeNumber = typeNumber
    self.prefix = prefix
    dynamicColumn = table.columns.first { $0.path == prefix + [TableColumns.dynamicName] }?.number ?? -1
  }

  @inline(__always)
  mutating func member(_ name: PayloadName) -> Member {
    if name.index < members.count, members[name.index].kind != .unknown { return members[name.index] }
    return resolve(name)
  }

  private mutating func resolve(_ name: PayloadName) -> Member {
    let missing = name.index + 1 - members.count
    if missing > 0 { members.append(contentsOf: repeatElement(Member(kind: .unknown), count: missing)) }
    let type = table.types.indices.contains(typeNumber) ? table.types[typeNumber] : table.type
    let path = prefix + [name.text]
    var member = Member(kind: dynamicColumn >= 0 ? .dynamic : .undeclared, index: Int32(dynamicColumn))
    if let column = table.column(path, on: type), isOf(type, column.declaringType) {
      let kind: Member.Kind =
        switch column.storage {
        case .complex: .complex
        case .json: .whole
        case .stream: .stream
        case .dynamic: .ignored
        default: .column
        }
      member = Member(kind: kind, index: Int32(column.number))
    } else if let place = navigation(path, type) {
      member = Member(kind: .navigation, index: Int32(place))
    } else if type.navigationProperty(name.text) != nil {
      // The target has any type, or a type that the document does not declare.
      member = Member(kind: .ignored)
    }
    members[name.index] = member
    return member
  }

  private func navigation(_ path: [String], _ type: EdmStructure) -> Int? {
    let numbers = table.navigations.indices.filter { table.navigations[$0].path == path }
    return numbers.first { isOf(type, table.navigations[$0].declaringType) }
  }

  private func isOf(_ type: EdmStructure, _ declaring: EdmStructure) -> Bool {
    var current: EdmStructure? = type
    while let next = current {
      if next === declaring || next.name == declaring.name { return true }
      current = next.base
    }
    return false
  }
}
