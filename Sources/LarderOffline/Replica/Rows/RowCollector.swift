import LarderOData
import LarderStorage

/// Why a payload cannot become rows.
enum RowCollectorError: Error, Sendable, CustomStringConvertible {
  /// It holds something else than entities.
  case noEntities(String)
  /// It is of another kind than what was asked for.
  case otherKind(expected: String, found: String)
  /// It is the service's error.
  case service(ODataErrorPayload)
  /// An entity of a table, by name, comes without its key: it could not be told apart from others.
  case noKey(String)

  var description: String {
    switch self {
    case .noEntities(let kind): "The answer holds no entities: it is a \(kind)."
    case .otherKind(let expected, let found): "The answer is of another kind: expected \(expected), found \(found)."
    case .noKey(let table): "An entity of \(table) comes without its key; where the query selects, select the key too."
    case .service(let error): "The service answers with an error: \(error.message) (\(error.code))"
    }
  }
}

/// Makes rows of a payload's events, one payload for each.
///
/// All that it knows is one value in ``rows``: a class's members are checked for exclusive access each time that one is
/// touched, and an event touches many.
final class RowCollector: PayloadHandler {
  private(set) var rows: CollectedRows

  /// - Parameters:
  ///   - table: the table of the payload's own entities.
  ///   - parent: for a collection in line that goes on in this payload: the navigation property, and the entity that
  ///     has it.
  ///   - notesMembers: for changes: what stands behind navigation properties is noted.
  ///   - selected: the columns that the query's `$select` brings, by table.
  init(
    plan: ReplicaPlan, table: Int, parent: (navigation: Int, table: Int, id: Int64)? = nil, notesMembers: Bool = false,
    selected: [Int: Set<Int>] = [:]
  ) {
    rows = CollectedRows(plan: plan, table: table, parent: parent, notesMembers: notesMembers, selected: selected)
  }

  /// What the payload has to hold; nil takes all that holds entities.
  var content: PageForm.Content? {
    get { rows.content }
    set { rows.content = newValue }
  }

  /// What has been told since the last time; between rows.
  func take() -> RowChunk { rows.take() }

  /// Moves the rows of a chunk that is plain to others of their tables, by number; between rows.
  func pack(into packed: inout [Int: PackedSlot], empty: (EntityTable) -> PackedSlot) {
    rows.pack(into: &packed, empty: empty)
  }

  // MARK: The payload

  func beginPayload(_ kind: PayloadKind) throws { try rows.beginPayload(kind) }
  func endPayload() throws {}

  func error(_ error: ODataErrorPayload) throws { throw RowCollectorError.service(error) }
  func reference(_ reference: ODataReference) throws { throw RowCollectorError.noEntities("reference") }
  func serviceElement(_ element: ODataServiceDocument.Element) throws {
    throw RowCollectorError.noEntities("service document")
  }
  func operation(_ operation: ODataOperation) {}
  func annotation(_ annotation: ODataAnnotation, on name: PayloadName?) {}
  func link(_ link: ODataDeltaLink, isDeleted: Bool) { rows.link(link, isDeleted: isDeleted) }
  func control(_ information: ControlInformation, on name: PayloadName?, _ scalar: PayloadScalar) throws {
    try rows.control(information, on: name, scalar)
  }

  // MARK: Entities

  func beginEntity(_ name: PayloadName?, role: PayloadEntityRole, typeName: String?) throws {
    try rows.beginEntity(name, role: role, typeName: typeName)
  }
  func endEntity() throws { try rows.endEntity() }
  func nullEntity(_ name: PayloadName) { rows.nullEntity(name) }
  func beginCollection(_ name: PayloadName, isDelta: Bool) { rows.beginCollection(name, isDelta: isDelta) }
  func endCollection() { rows.endCollection() }

  // MARK: Values

  func property(_ name: PayloadName, _ scalar: PayloadScalar) throws { try rows.property(name, scalar) }
  func element(_ scalar: PayloadScalar) throws { try rows.element(scalar) }
  func value(_ name: PayloadName?, _ value: ODataValue) throws { try rows.value(name, value) }
  func beginValues(_ name: PayloadName?) throws { try rows.beginValues(name) }
  func endValues() throws { try rows.endValues() }
  func beginComplex(_ name: PayloadName?) throws { try rows.beginComplex(name) }
  func endComplex() throws { try rows.endComplex() }
}
