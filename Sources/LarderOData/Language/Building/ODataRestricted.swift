/// A property that the service does not allow in `$filter`. It has no operators there, so that the compiler rejects it.
public struct ODataUnfilterable<Member: ODataMember>: ODataMember {
  private let member: Member

  /// Creates a property that cannot be in a filter.
  public init(_ member: Member) { self.member = member }

  /// No operand: the service rejects filters by the property.
  public func operand(at path: ODataPath) -> ODataNotFilterable { ODataNotFilterable() }
  /// The property in `$orderby`.
  public func ordering(at path: ODataPath) -> Member.Ordering { member.ordering(at: path) }
  /// The property in `$select`.
  public func selection(at path: ODataPath) -> Member.Selection { member.selection(at: path) }
}

/// A property that the service does not allow in `$orderby`. It is no item of an order, so that the compiler rejects it.
public struct ODataUnsortable<Member: ODataMember>: ODataMember {
  private let member: Member

  /// Creates a property that cannot be in an order.
  public init(_ member: Member) { self.member = member }

  /// The property in `$filter`.
  public func operand(at path: ODataPath) -> Member.Operand { member.operand(at: path) }
  /// No operand: the service rejects orders by the property.
  public func ordering(at path: ODataPath) -> ODataNotSortable { ODataNotSortable() }
  /// The property in `$select`.
  public func selection(at path: ODataPath) -> Member.Selection { member.selection(at: path) }
}

extension ODataUnfilterable: Sendable where Member: Sendable {}
extension ODataUnsortable: Sendable where Member: Sendable {}

extension ODataUnfilterable: ODataExpandableMember where Member: ODataExpandableMember {
  /// The property in `$expand`.
  public func expansion(at path: ODataPath) -> Member.Expansion { member.expansion(at: path) }
}

extension ODataUnsortable: ODataExpandableMember where Member: ODataExpandableMember {
  /// The property in `$expand`.
  public func expansion(at path: ODataPath) -> Member.Expansion { member.expansion(at: path) }
}

/// What a property is in `$filter` if the service does not allow it there.
public struct ODataNotFilterable: Sendable {}

/// What a property is in `$orderby` if the service does not allow it there.
public struct ODataNotSortable: Sendable {}

/// An entity or complex value inside an order: its members are the fields of its type that can be in `$orderby`.
@dynamicMemberLookup
public struct ODataOrdering<Entity: ODataDescribed>: Sendable {
  private let path: ODataPath

  init(_ path: ODataPath) { self.path = path }

  /// A member by its field.
  public subscript<Member: ODataMember>(dynamicMember field: KeyPath<Entity.Fields, Member>) -> Member.Ordering {
    Entity.Fields()[keyPath: field].ordering(at: path)
  }

  /// A member by its name, which the type need not declare.
  public subscript(name: String) -> ODataDynamic { ODataDynamic(path: path.appending(.name(name))) }

  /// Casts the instance to a derived type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataOrdering<Derived> {
    ODataOrdering<Derived>(path.appending(.qualifiedName(Derived.odataTypeName)))
  }
}
