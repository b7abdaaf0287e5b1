/// A pending change of an entity that another client has changed, as a download has noticed.
public struct OfflineODataNoticedConflict: Sendable, Hashable {
  /// The change's number in the queue: ``OfflineODataProvider/conflict(_:)`` returns the three versions.
  public var requestID: Int64
  /// The entity's path relative to the service's root.
  public var path: String
  /// Whether the service no longer has the entity.
  public var isGone: Bool
}
