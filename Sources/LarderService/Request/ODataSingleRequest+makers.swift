import LarderHTTP
public import LarderOData

extension ODataSingleRequest {
  /// Reads a resource, such as `Articles('myuserid')?$top=30&$orderby=Date`.
  public static func read(_ path: String, useCache: Bool = true) -> ODataSingleRequest {
    ODataSingleRequest(.read, path, useCache: useCache)
  }

  /// Adds an entity to the collection at `path`.
  public static func create(_ entity: ODataEntity, in path: String) -> ODataSingleRequest {
    ODataSingleRequest(.create, path, body: .entity(entity))
  }

  /// Changes the entity at `path`: only the properties given, unless `method` is `replace`.
  public static func update(
    _ path: String, to entity: ODataEntity, method: UpdateMethod = .patch, ifMatch: String? = nil
  ) -> ODataSingleRequest {
    ODataSingleRequest(.update(method), path, body: .entity(entity), ifMatch: ifMatch)
  }

  /// Changes an entity at its own URL (its `editLink`, else its id), with its own ETag as the condition.
  ///
  /// - Returns: nil if the entity has neither.
  public static func update(_ entity: ODataEntity, method: UpdateMethod = .patch) -> ODataSingleRequest? {
    guard let path = entity.editLink ?? entity.id else { return nil }
    return update(path, to: entity, method: method, ifMatch: entity.etag)
  }

  /// Deletes the entity at `path`.
  public static func delete(_ path: String, ifMatch: String? = nil) -> ODataSingleRequest {
    ODataSingleRequest(.delete, path, ifMatch: ifMatch)
  }

  /// Deletes an entity at its own URL, with its own ETag as the condition; nil if it has no URL.
  public static func delete(_ entity: ODataEntity) -> ODataSingleRequest? {
    guard let path = entity.editLink ?? entity.id else { return nil }
    return delete(path, ifMatch: entity.etag)
  }

  /// Adds the entity `target` to the references at `path` (`Orders(1)/Items/$ref`, V2 `Orders(1)/$links/Items`).
  public static func createLink(_ path: String, to target: String) -> ODataSingleRequest {
    ODataSingleRequest(.createLink, path, body: .reference(target))
  }

  /// Makes `target` the entity to which the single-valued reference at `path` leads.
  public static func updateLink(_ path: String, to target: String, ifMatch: String? = nil) -> ODataSingleRequest {
    ODataSingleRequest(.updateLink, path, body: .reference(target), ifMatch: ifMatch)
  }

  /// Removes the reference at `path`.
  public static func deleteLink(_ path: String, ifMatch: String? = nil) -> ODataSingleRequest {
    ODataSingleRequest(.deleteLink, path, ifMatch: ifMatch)
  }

  /// Calls a function whose parameters are in `path`.
  public static func invokeFunction(_ path: String, useCache: Bool = true) -> ODataSingleRequest {
    ODataSingleRequest(.invokeFunction, path, useCache: useCache)
  }

  /// Calls an action with its parameters in the body.
  public static func invokeAction(
    _ path: String, parameters: [ODataProperty] = [], ifMatch: String? = nil
  ) -> ODataSingleRequest {
    ODataSingleRequest(
      .invokeAction, path, body: parameters.isEmpty ? .none : .properties(parameters), ifMatch: ifMatch)
  }

  /// Reads the bytes of a media resource (`Photos(1)/$value`) or stream property.
  public static func readMedia(_ path: String) -> ODataSingleRequest { ODataSingleRequest(.readMedia, path) }

  /// Adds a media entity to the collection at `path` by its bytes; `body` is `.bytes` or `.stream`.
  public static func createMedia(_ body: ODataRequestBody, in path: String, slug: String? = nil) -> ODataSingleRequest {
    var request = ODataSingleRequest(.createMedia, path, body: body)
    if let slug { request.fields[.slug] = slug }
    return request
  }

  /// Replaces the bytes of a media resource or stream property; `body` is `.bytes` or `.stream`.
  public static func updateMedia(_ path: String, to body: ODataRequestBody, ifMatch: String? = nil)
    -> ODataSingleRequest
  {
    ODataSingleRequest(.updateMedia, path, body: body, ifMatch: ifMatch)
  }

  /// The path of the number of entities that a query selects.
  static func counting(_ path: String) -> String {
    let query = path.firstIndex(of: "?") ?? path.endIndex
    return path[..<query] + "/$count" + path[query...]
  }

  /// The operation's name for messages and logs, such as `read` or `createLink`.
  package var operationName: String {
    switch operation {
    case .read: "read"
    case .create: "create"
    case .update: "update"
    case .delete: "delete"
    case .createLink: "createLink"
    case .updateLink: "updateLink"
    case .deleteLink: "deleteLink"
    case .invokeFunction: "invokeFunction"
    case .invokeAction: "invokeAction"
    case .readMedia: "readMedia"
    case .createMedia: "createMedia"
    case .updateMedia: "updateMedia"
    case .deleteMedia: "deleteMedia"
    }
  }
}

extension ODataRequest {
  /// Reads a resource, such as `Articles('myuserid')?$top=30&$orderby=Date`.
  public static func read(_ path: String, useCache: Bool = true) -> ODataRequest {
    .single(.read(path, useCache: useCache))
  }

  /// Adds an entity to the collection at `path`.
  public static func create(_ entity: ODataEntity, in path: String) -> ODataRequest {
    .single(.create(entity, in: path))
  }

  /// Changes the entity at `path`: only the properties given, unless `method` is `replace`.
  public static func update(
    _ path: String, to entity: ODataEntity, method: ODataSingleRequest.UpdateMethod = .patch, ifMatch: String? = nil
  ) -> ODataRequest {
    .single(.update(path, to: entity, method: method, ifMatch: ifMatch))
  }

  /// Deletes the entity at `path`.
  public static func delete(_ path: String, ifMatch: String? = nil) -> ODataRequest {
    .single(.delete(path, ifMatch: ifMatch))
  }
}
