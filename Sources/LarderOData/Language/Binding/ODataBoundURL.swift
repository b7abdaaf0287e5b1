/// A URL bound to a model: what it identifies, and what is asked of it.
public struct ODataBoundURL: Sendable, Hashable {
  /// `https://host/service/`; nil where the URL was relative to it.
  public var serviceRoot: String?
  /// What the path identifies.
  public var resource: ODataBoundResource
  /// The options.
  public var options: ODataBoundOptions

  /// The type of the resource, before `$apply` and `$compute`; nil where there is none (`$metadata`, an action without a
  /// result).
  public var type: ODataBoundType? {
    switch resource {
    case .path(let path): path.type
    case .entity(let type): type.map { ODataBoundType(.structure($0)) } ?? ODataBoundType(.abstract(.entityType))
    default: nil
    }
  }

  /// The entity set or singleton that the resource's entities come from; nil where there is none.
  public var source: ODataBoundSource? {
    if case .path(let path) = resource { path.source } else { nil }
  }
}

/// What a URL identifies.
public enum ODataBoundResource: Sendable, Hashable {
  /// The service document.
  case service
  /// `$batch`
  case batch
  /// `$metadata`, with the fragment of a context URL as it was.
  indirect case metadata(ODataContextFragment?)
  /// `$entity`, cast to a type where one follows.
  case entity(EdmStructure?)
  /// Everything else.
  case path(ODataBoundPath)
}
