/// An entity type whose entities belong to bytes, such as a document or a picture (OData CSDL 4.01 §6.2).
public protocol ODataMediaEntity: ODataDescribed {
  /// Whether the service creates entities from bytes; ``ODataForbidden`` if the metadata say that it does not.
  associatedtype ODataMediaCreation = ODataAllowed
}

/// A stream property: its bytes are read and replaced apart from the other properties (OData CSDL 4.01 §7.1).
public struct ODataStreamField: ODataMember, Sendable {
  /// The property's name in the service.
  package let name: String

  /// Creates a property with a name.
  public init(_ name: String) { self.name = name }

  /// No operand: bytes have no operators.
  public func operand(at path: ODataPath) -> ODataNotFilterable { ODataNotFilterable() }
  /// No operand: bytes have no order.
  public func ordering(at path: ODataPath) -> ODataNotSortable { ODataNotSortable() }
  /// The property's link in `$select`.
  public func selection(at path: ODataPath) -> ODataSelectItem { ODataSelectItem(path.appending(.name(name))) }
}

extension ODataFields {
  /// A stream property.
  public typealias StreamField = ODataStreamField
}
