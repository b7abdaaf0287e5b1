/// The kind of a payload.
package enum PayloadKind: Sendable, Hashable {
  case entity, collection, property, reference, references, delta, serviceDocument, error
}

/// The role of an object in the position of an entity.
package enum PayloadEntityRole: Sendable, Hashable {
  /// An entity, or the changed properties of one.
  case entity
  /// A removed entity, with the members that identify it.
  case deleted(ODataRemoval)
}

/// Receives a payload in pieces, in this order:
///
///     beginPayload
///       control, annotation, operation on the payload        in any number, before and after the rows
///       entity | reference | link | serviceElement …         the rows, or the one
///       property | element | complex | values                if the payload is a property
///     endPayload
///
///     entity  = beginEntity, control…, member…, endEntity
///     member  = property | complex | values | entity | null | collection | control on the name | annotation on it
///     complex = beginComplex, control…, member…, endComplex
///     values  = beginValues, (element | complex | values)…, endValues
///
/// Control information of an object follows its begin, wherever it is in the payload; that of a property
/// may precede or follow the property. `name` is nil for rows, elements and the single value of a payload.
package protocol PayloadHandler: AnyObject {
  func beginPayload(_ kind: PayloadKind) throws
  func endPayload() throws

  /// A row, the payload's one entity, or an inline to-one navigation property. `typeName` is the declared type, if a
  /// model declares it; the type that the payload names follows as control information.
  func beginEntity(_ name: PayloadName?, role: PayloadEntityRole, typeName: String?) throws
  func endEntity() throws
  /// An inline to-one navigation property without a related entity.
  func nullEntity(_ name: PayloadName) throws
  /// An inline to-many navigation property.
  func beginCollection(_ name: PayloadName, isDelta: Bool) throws
  func endCollection() throws

  func beginComplex(_ name: PayloadName?) throws
  func endComplex() throws
  /// A collection of primitive or complex values.
  func beginValues(_ name: PayloadName?) throws
  func endValues() throws
  /// A primitive property; may be null.
  func property(_ name: PayloadName, _ scalar: PayloadScalar) throws
  /// A primitive value without a name.
  func element(_ scalar: PayloadScalar) throws
  /// A property whose value is reported as one event: geography, geometry, and untyped values.
  func value(_ name: PayloadName?, _ value: ODataValue) throws

  /// Control information of the current object, or of one of its properties.
  func control(_ information: ControlInformation, on name: PayloadName?, _ scalar: PayloadScalar) throws
  func annotation(_ annotation: ODataAnnotation, on name: PayloadName?) throws
  func operation(_ operation: ODataOperation) throws

  func reference(_ reference: ODataReference) throws
  func link(_ link: ODataDeltaLink, isDeleted: Bool) throws
  func serviceElement(_ element: ODataServiceDocument.Element) throws
  func error(_ error: ODataErrorPayload) throws

  /// How much is open now. The handler gets it back if the property that begins now cannot be read.
  var depth: PayloadDepth { get }
  /// A property whose value does not fit its declared type, or that occurs twice in its object. Throws, unless the
  /// payload can be used without it. Events between the property's begin and the error have already been reported.
  ///
  /// - Parameters:
  ///   - text: the text of a scalar; otherwise JSON.
  ///   - depth: what was open before the property began.
  func unfitting(_ name: PayloadName, text: [UInt8], depth: PayloadDepth, error: any Error) throws
}

/// The number of open objects and values of a handler.
package struct PayloadDepth: Sendable, Hashable {
  package var objects = 0
  package var values = 0

  package init(objects: Int = 0, values: Int = 0) { (self.objects, self.values) = (objects, values) }
}

extension PayloadHandler {
  package var depth: PayloadDepth { PayloadDepth() }
  package func unfitting(_ name: PayloadName, text: [UInt8], depth: PayloadDepth, error: any Error) throws {
    throw error
  }
}
