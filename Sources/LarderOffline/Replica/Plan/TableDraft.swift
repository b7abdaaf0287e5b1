import LarderOData

/// An entity table while the plan is made.
struct TableDraft {
  let number: Int
  let name: String
  let place: EntityTable.Place
  /// The set or singleton that it hangs below, and the way from there: how bindings name its navigation properties.
  let root: String
  let steps: [String]
  let bindings: [EdmNavigationPropertyBinding]
  let types: [EdmStructure]
  let columns: TableColumns
  let key: [Int]
  var navigations: [Navigation] = []
  /// Declaring type and path of the containment navigation property; empty for other tables.
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
    let found = parts.compactMap { part in
      columns.column(part.path.split(separator: "/").map(String.init), on: types.first)
    }
    // Half a key identifies nothing.
    key = found.count == parts.count && found.allSatisfy { columns.columns[$0].storage.isComparable } ? found : []
  }

  var isContained: Bool { if case .containment = place { true } else { false } }
}
