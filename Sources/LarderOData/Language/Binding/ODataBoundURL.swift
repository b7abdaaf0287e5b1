/// A URL bound to a model: its resource and its query options.
public struct ODataBoundURL: Sendable, Hashable {
  /// `https://host/service/`; nil if the URL was relative to it.
  public var serviceRoot: String?
  /// The resource that the path identifies.
  public var resource: ODataBoundResource
  /// The options.
  public var options: ODataBoundOptions

  /// The type of the resource, before `$apply` and `$compute`; nil if there is none (`$metadata`, an action without a
  /// result).
  public var type: ODataBoundType? {
    switch resource {
    case .path(let path): path.type
    case .entity(let type): type.map { ODataBoundType(.structure($0)) } ?? ODataBoundType(.abstract(.entityType))
    default: nil
    }
  }

  /// The entity set or singleton of the resource's entities; nil if there is none.
  public var source: ODataBoundSource? {
    if case .path(let path) = resource { path.source } else { nil }
  }
}

/// The kinds of resources that a URL identifies.
public enum ODataBoundResource: Sendable, Hashable {
  /// The service document.
  case service
  /// `$batch`
  case batch
  /// `$metadata`, with the fragment of a context URL, unbound.
  indirect case metadata(ODataContextFragment?)
  /// `$entity`, cast to a type if one follows.
  case entity(EdmStructure?)
  /// Everything else.
  case path(ODataBoundPath)
}
