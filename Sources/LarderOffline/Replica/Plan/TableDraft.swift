import LarderOData

/// An entity table while the plan is being built.
struct TableDraft {
  let number: Int
  let name: String
  let place: EntityTable.Place
  /// The set or singleton that the table is below, and the path from there: bindings name its navigation properties so.
  let root: String
  let steps: [String]
  let bindings: [EdmNavigationPropertyBinding]
  let types: [EdmStructure]
  let columns: TableColumns
  let key: [Int]
  var navigations: [Navigation] = []
  /// The declaring type and path of the containment navigation property; empty for other tables.
  var containmentKey = ""

  struct Navigation {
    let path: [String]
    let declaringType: EdmStructure
    let property: EdmNavigationProperty
    let target: Int
  }

  init(
    number: Int, name: String, place: EntityTable.Place, root: String, steps: [String],
    bindings: [EdmNavigationPropertyBinding], types: [EdmStructure], hierarchy: TypeHierarchy
  ) {
    self.number = number
    self.name = name
    self.place = place
    self.root = root
    self.steps = steps
    self.bindings = bindings
    self.types = types
    let columns = TableColumns(types: types, hierarchy: hierarchy)
    self.columns = columns
    let parts = types.first?.key ?? []
    let numbers = parts.compactMap { part in
      columns.column(part.path.split(separator: "/").map(String.init), on: types.first)
    }
    // A part of a key identifies nothing.
    key = numbers.count == parts.count && numbers.allSatisfy { columns.columns[$0].storage.isComparable } ? numbers : []
  }

  var isContained: Bool { if case .containment = place { true } else { false } }
}
