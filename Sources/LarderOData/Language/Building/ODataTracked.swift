/// An entity type whose set accepts new entities.
public protocol ODataCreatable: ODataDescribed {
  /// The properties of a new entity.
  associatedtype Create: ODataChange
}

/// An entity type whose entities can be changed.
public protocol ODataUpdatable: ODataKeyed {
  /// The properties of a change.
  associatedtype Update: ODataChange
}

/// An entity type whose values know the version that was read, so that a deletion can name it.
public protocol ODataVersioned: ODataKeyed {
  /// The ETag of the version that was read.
  var odataState: ODataEntityState { get set }
}

/// An entity type whose values know which of their properties have been assigned since they were read, so that an update
/// sends only those, under the ETag of the version that was read.
public protocol ODataTracked: ODataUpdatable, ODataVersioned {
  /// The assigned properties with their present values.
  var odataChanges: [ODataProperty] { get }

  /// Forgets the assignments: they were sent, and the service has the given version.
  mutating func odataSent(etag: String?)
}

extension ODataTracked {
  /// Forgets the assignments: they were sent, and the service has the given version.
  public mutating func odataSent(etag: String?) { odataState = ODataEntityState(etag: etag) }
}

/// The version of an entity that was read, and the properties that have been assigned since.
///
/// It does not take part in comparisons: two entities are equal if their properties are. It is coded as the ETag.
public struct ODataEntityState: Codable, Hashable, Sendable {
  /// The entity's ETag, with its quotes and `W/`.
  public let etag: String?
  private var assigned: Set<Int> = []

  /// Creates the state of an entity that was just read, or created locally.
  public init(etag: String? = nil) { self.etag = etag }

  /// Decodes an ETag.
  public init(from decoder: any Decoder) throws { etag = try decoder.singleValueContainer().decode(String.self) }

  /// Encodes the ETag.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let etag { try container.encode(etag) } else { try container.encodeNil() }
  }

  /// Notes that a property, given by its number in the type, was assigned.
  public mutating func assign(_ property: Int) { assigned.insert(property) }

  /// Whether a property, given by its number in the type, has been assigned.
  func isAssigned(_ property: Int) -> Bool { assigned.contains(property) }

  /// Always true.
  public static func == (left: ODataEntityState, right: ODataEntityState) -> Bool { true }
  /// Adds nothing.
  public func hash(into hasher: inout Hasher) {}
}

// Types with a synthesized coding use these: the ETag may be absent.
extension KeyedDecodingContainer {
  /// Decodes an ETag that may be absent.
  public func decode(_ type: ODataEntityState.Type, forKey key: Key) throws -> ODataEntityState {
    ODataEntityState(etag: try decodeIfPresent(String.self, forKey: key))
  }
}

extension KeyedEncodingContainer {
  /// Encodes an ETag, if there is one.
  public mutating func encode(_ state: ODataEntityState, forKey key: Key) throws {
    try encodeIfPresent(state.etag, forKey: key)
  }
}

extension ODataPropertyList {
  /// Adds a property, given with its number in the type, if it has been assigned.
  public mutating func setIfAssigned(
    _ property: Int, _ name: String, _ value: some ODataConvertible, in state: ODataEntityState
  ) {
    if state.isAssigned(property) { set(name, value) }
  }
}
