import LarderOData

/// Collects the columns of one entity table, type by type. Complex properties are divided into their parts.
struct TableColumns {
  /// The number of columns from which on complex properties are stored as JSON.
  static let flatLimit = 400
  /// The number of columns, below SQLite's limit of 2000, from which on properties are stored among the undeclared
  /// ones.
  static let limit = 1500
  /// The longest path of a column: a complex property at its end is stored as JSON.
  static let pathLimit = 5

  private(set) var columns: [ReplicaColumn] = []
  /// Navigation properties of the types, including those in complex properties.
  private(set) var navigations: [Navigation] = []
  private let hierarchy: TypeHierarchy
  private var model: EdmModel { hierarchy.model }
  private var names: Set<String>
  private var hasDynamic = false
  /// Paths that the key goes through: these complex properties are never stored as JSON.
  private var keyPaths: Set<[String]> = []

  struct Navigation {
    let path: [String]
    let declaringType: EdmStructure
    let property: EdmNavigationProperty
  }

  /// The name at the end of the path of undeclared properties.
  static let dynamicName = "@dynamic"

  init(types: [EdmStructure], hierarchy: TypeHierarchy) {
    self.hierarchy = hierarchy
    names = Set(SystemColumn.allCases.map { TableColumns.folded($0.rawValue) })
    for reference in types.flatMap(\.key) {
      let path = reference.path.split(separator: "/").map(String.init)
      for length in 1..<max(path.count, 1) { keyPaths.insert(Array(path.prefix(length))) }
    }
    for (place, type) in types.enumerated() {
      // The base types of the first type are not types of the table, but the table has their properties.
      for declaring in place == 0 ? type.chain : [type] {
        for property in hierarchy.ownProperties(of: declaring) {
          add(property, path: [property.name], declaring: declaring, enclosingTypes: [])
        }
        for property in hierarchy.ownNavigationProperties(of: declaring) {
          navigations.append(Navigation(path: [property.name], declaringType: declaring, property: property))
        }
      }
      if type.isOpen { addDynamic([], type) }
    }
  }

  /// The column with a path, as seen from a type that declares or inherits it; nil if there is none.
  func column(_ path: [String], on type: EdmStructure?) -> Int? {
    let candidates = columns.filter { $0.path == path }
    guard let type, candidates.count > 1 else { return candidates.first?.number }
    let chain = Set(type.chain.map(\.name))
    return (candidates.first { chain.contains($0.declaringType.name) } ?? candidates.first)?.number
  }

  // MARK: Adding

  private mutating func add(
    _ property: EdmProperty, path: [String], declaring: EdmStructure, enclosingTypes: Set<String>
  ) {
    let (type, _) = model.underlying(property.type)
    if let storage = ColumnStorage(type, model: model) {
      return add(path, declaring: declaring, property: property, type: type, storage: storage)
    }
    guard let name = type.name, let parts = parts(of: name, at: path, enclosingTypes) else {
      return add(path, declaring: declaring, property: property, type: type, storage: .json)
    }
    add(path, declaring: declaring, property: property, type: type, storage: .complex)
    for part in parts {
      for inner in hierarchy.ownProperties(of: part) {
        add(
          inner, path: path + [inner.name], declaring: declaring,
          enclosingTypes: enclosingTypes.union(parts.map(\.name)))
      }
      for inner in hierarchy.ownNavigationProperties(of: part) {
        navigations.append(Navigation(path: path + [inner.name], declaringType: declaring, property: inner))
      }
    }
    if parts.contains(where: \.isOpen) { addDynamic(path, declaring) }
  }

  /// The types whose properties become the columns of a complex property. Nil if the property is stored as JSON: it is
  /// nested too deeply or in itself, or its types declare one name differently.
  private func parts(of name: String, at path: [String], _ enclosingTypes: Set<String>) -> [EdmStructure]? {
    guard let type = model.structure(name), !type.isEntityType, !enclosingTypes.contains(type.name) else { return nil }
    let isOfKey = keyPaths.contains(path)
    guard isOfKey || path.count < TableColumns.pathLimit && columns.count < TableColumns.flatLimit else { return nil }
    let below = hierarchy.types(from: name)
    let all = Array(type.chain.dropLast()) + below
    var names: Set<String> = []
    for property in all.flatMap({ hierarchy.ownProperties(of: $0) }) {
      guard names.insert(TableColumns.folded(property.name)).inserted || isOfKey else { return nil }
    }
    return all
  }

  private mutating func addDynamic(_ path: [String], _ declaring: EdmStructure) {
    if path.isEmpty {
      guard !hasDynamic else { return }
      hasDynamic = true
    }
    insert(
      path + [TableColumns.dynamicName], declaring: declaring, property: nil, type: .abstract(.untyped),
      storage: .dynamic)
  }

  private mutating func add(
    _ path: [String], declaring: EdmStructure, property: EdmProperty, type: EdmTypeReference,
    storage: ColumnStorage
  ) {
    guard columns.count < TableColumns.limit else { return addDynamic([], declaring) }
    insert(path, declaring: declaring, property: property, type: type, storage: storage)
  }

  private mutating func insert(
    _ path: [String], declaring: EdmStructure, property: EdmProperty?, type: EdmTypeReference,
    storage: ColumnStorage
  ) {
    columns.append(
      ReplicaColumn(
        number: columns.count, name: name(path.joined(separator: "/"), declaring), path: path,
        declaringType: declaring, property: property, type: type, storage: storage))
  }

  /// Returns a name that is unique in the table: SQLite ignores the case of ASCII letters in names.
  private mutating func name(_ preferred: String, _ declaring: EdmStructure) -> String {
    var name = preferred.isEmpty ? "@" : preferred
    var number = 1
    while !names.insert(TableColumns.folded(name)).inserted {
      name = number == 1 ? declaring.name + "/" + preferred : "\(preferred)~\(number)"
      number += 1
    }
    return name
  }

  static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
