/// An additional index: an entity set, and the properties that the application often filters or orders by.
public struct OfflineODataIndex: Sendable, Hashable {
  /// The entity set.
  public var entitySet: String
  /// The properties in their order; paths to properties of complex ones with `/`.
  public var properties: [String]

  /// Creates an index on properties of a set.
  public init(_ entitySet: String, _ properties: [String]) {
    self.entitySet = entitySet
    self.properties = properties
  }
}
