import LarderOData
import LarderStorage

/// The reason why a payload cannot be converted to rows.
enum PageError: Error, Sendable, CustomStringConvertible {
  /// The payload contains something other than entities.
  case noEntities(String)
  /// The payload has another kind than requested.
  case otherKind(expected: String, found: String)
  /// An entity of a table, given by name, has no key: it could not be distinguished from others.
  case noKey(String)

  var description: String {
    switch self {
    case .noEntities(let kind): "The response contains no entities: it is a \(kind)."
    case .otherKind(let expected, let found):
      "The response has another kind of content: expected \(expected), found \(found)."
    case .noKey(let table): "An entity of \(table) has no key in the response."
    }
  }
}

extension PageError: ErrorWithCure {
  var cure: String {
    switch self {
    case .noKey: "If the query has $select, add the key to it; else leave the link to such entities out of $expand."
    case .noEntities, .otherKind: "Check that the address is the service's, and not that of a sign-in page."
    }
  }
}

extension PageRows {
  /// Passes the events of a payload on to the rows.
  ///
  /// The whole state is one value: Swift checks exclusive access each time that a member of a class is accessed, and
  /// each event accesses many.
  final class Handler: PayloadHandler {
    var rows: PageRows

    init(_ rows: PageRows) { self.rows = rows }

    // MARK: The payload

    func beginPayload(_ kind: PayloadKind) throws { try rows.beginPayload(kind) }
    func endPayload() throws {}

    func error(_ error: ODataErrorPayload) throws { throw PayloadError.Problem.inStreamError(error) }
    func reference(_ reference: ODataReference) throws { throw PageError.noEntities("reference") }
    func serviceElement(_ element: ODataServiceDocument.Element) throws {
      throw PageError.noEntities("service document")
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
    var depth: PayloadDepth { PayloadDepth(objects: rows.frames.count, values: rows.tree.depth) }
    func unfitting(_ name: PayloadName, text: [UInt8], depth: PayloadDepth, error: any Error) throws {
      try rows.unfitting(name, text: text, depth: depth, error: error)
    }
  }
}
