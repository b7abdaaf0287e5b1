import OData
import Storage

extension EntityCells {
  /// The entity of an answer as cells: what the payload says of it, read as a download reads it.
  ///
  /// nil where the payload has no entity of the table. Throws what cannot be read.
  static func read(
    _ bytes: [UInt8], _ form: PageForm, _ table: EntityTable, _ plan: ReplicaPlan
  ) throws -> EntityCells? {
    var reader = PageReader(form, RowCollector(plan: plan, table: table.number))
    try reader.read(bytes)
    try reader.finish()
    let chunk = reader.collector.take()
    for place in chunk.order {
      let slot = chunk.slots[Int(place.slot)]
      let row = Int(place.row)
      guard slot.table.number == table.number, slot.parents[row] == nil else { continue }
      let (names, values) = TableTarget.change(slot, row)
      var cells = EntityCells(Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first }))
      if case .integer(let number) = slot.batch.value(row, SystemColumn.type.place),
        table.types.indices.contains(Int(clamping: number))
      {
        cells[.type] = .text(table.types[Int(clamping: number)].name)
      }
      return cells
    }
    return nil
  }
}
