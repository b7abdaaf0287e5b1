import LarderOData
import LarderStorage

extension EntityCells {
  /// The entity with these cells: type, ETag and properties. A property without a cell is null; one whose value was not
  /// read is left out.
  func entity(in table: EntityTable, _ plan: ReplicaPlan) -> ODataEntity {
    let type = text(.type).flatMap(plan.model.structure) ?? table.type
    var entity = ODataEntity(typeName: text(.type))
    entity.etag = text(.etag)
    entity.properties = properties(at: [], type, table, plan)
    return entity
  }

  private func properties(
    at path: [String], _ type: EdmStructure?, _ table: EntityTable, _ plan: ReplicaPlan
  ) -> [ODataProperty] {
    var properties: [ODataProperty] = []
    for column in table.columns where Array(column.path.dropLast()) == path && column.storage != .stream {
      if let type, path.isEmpty, !type.isOrDerives(from: column.declaringType) { continue }
      if let type, !path.isEmpty, column.storage != .dynamic, type.property(column.path.last ?? "") == nil { continue }
      if unread.contains(column.name) { continue }
      let cell = self[column.name] ?? .null
      if RawValue.isOne(cell, in: column.storage) { continue }
      switch column.storage {
      case .complex:
        guard case .text(let name) = cell else {
          properties.append(ODataProperty(column.path.last ?? "", .null))
          continue
        }
        let actual = (name.isEmpty ? column.type.name : name).flatMap(plan.model.structure)
        let inner = self.properties(at: column.path, actual, table, plan)
        let complex = ODataComplexValue(typeName: name.isEmpty ? nil : name, properties: inner)
        properties.append(ODataProperty(column.path.last ?? "", .complex(complex)))
      case .dynamic:
        if case .complex(let undeclared)? = try? column.value(of: cell, model: plan.model) {
          properties += undeclared.properties
        }
      default:
        properties.append(
          ODataProperty(column.path.last ?? "", (try? column.value(of: cell, model: plan.model)) ?? .null))
      }
    }
    return properties
  }
}
