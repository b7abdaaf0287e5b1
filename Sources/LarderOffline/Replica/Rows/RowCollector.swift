import LarderOData
import LarderStorage

/// The reason why a payload cannot be converted to rows.
enum RowCollectorError: Error, Sendable, CustomStringConvertible {
  /// The payload contains something other than entities.
  case noEntities(String)
  /// The payload has another kind than requested.
  case otherKind(expected: String, found: String)
  /// The payload is the service's error.
  case service(ODataErrorPayload)
  /// An entity of a table, given by name, has no key: it could not be distinguished from others.
  case noKey(String)

  var description: String {
    switch self {
    case .noEntities(let kind): "The response contains no entities: it is a \(kind)."
    case .otherKind(let expected, let found):
      "The response has another kind of content: expected \(expected), found \(found)."
    case .noKey(let table):
      "An entity of \(table) has no key in the response; if the query has $select, add the key to it."
    case .service(let error): "The service responded with an error: \(error.message) (\(error.code))"
    }
  }
}

/// Converts the events of one payload to rows.
///
/// The whole state is one value in ``rows``: Swift checks exclusive access each time that a member of a class is
/// accessed, and each event accesses many.
final class RowCollector: PayloadHandler {
  private(set) var rows: CollectedRows

  /// - Parameters:
  ///   - table: the table of the payload's own entities.
  ///   - parent: for an inline collection that continues in this payload: the navigation property, and the entity that
  ///     has it.
  ///   - notesMembers: whether the members of navigation properties are recorded, for changes.
  ///   - selected: the columns that the query's `$select` brings, by table.
  init(
    plan: ReplicaPlan, table: Int, parent: (navigation: Int, table: Int, id: Int64)? = nil, notesMembers: Bool = false,
    selected: [Int: Set<Int>] = [:]
  ) {
    rows = CollectedRows(plan: plan, table: table, parent: parent, notesMembers: notesMembers, selected: selected)
  }

  /// The kind of content that the payload must have; nil accepts everything that contains entities.
  var content: PageForm.Content? {
    get { rows.content }
    set { rows.content = newValue }
  }

  /// Returns the rows since the last call. Call it only between rows.
  func take() -> RowChunk { rows.take() }

  /// Moves the rows of a plain chunk to the packed rows of their tables, by table number. Call it only between rows.
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
