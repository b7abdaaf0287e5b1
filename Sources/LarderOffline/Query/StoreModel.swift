import LarderOData

/// The model of the store's own entity sets: the event log, the queue and the error archive.
enum StoreModel {
  static let namespace = "Larder"

  /// The model in V4.
  static let v4 = Planned(.v401)
  /// The model in V2, for queries in the language of services before V4.
  static let v2 = Planned(.v2)

  /// A model with the plan and the binder that queries need.
  struct Planned: Sendable {
    let model: EdmModel
    let plan: ReplicaPlan
    let binder: ODataBinder

    init(_ version: ODataVersion) {
      model = StoreModel.model(version)
      plan = ReplicaPlan(model: model)
      var options = ODataBinderOptions(version: version)
      options.keepsOptionsOfAnyType = true
      binder = ODataBinder(model: model, options: options)
    }
  }

  private static func model(_ version: ODataVersion) -> EdmModel {
    var schema = EdmSchema(namespace: namespace)
    schema.entityTypes = [event, request("QueuedRequest", queueProperties), header]
    schema.entityTypes.append(request("ArchivedRequest", archiveProperties))
    var container = EdmEntityContainer(namespace: namespace, name: "Store")
    container.entitySets = [
      EdmEntitySet(name: StoreSet.log.rawValue, entityType: "Larder.Event"),
      set(.archive, of: "Larder.ArchivedRequest"), set(.queue, of: "Larder.QueuedRequest"),
    ]
    schema.containers = [container]
    return EdmModel(version: version, schemas: [schema])
  }

  private static func set(_ set: StoreSet, of type: String) -> EdmEntitySet {
    var entitySet = EdmEntitySet(name: set.rawValue, entityType: type)
    entitySet.navigationPropertyBindings = [EdmNavigationPropertyBinding(path: dependents, target: set.rawValue)]
    return entitySet
  }

  // MARK: Types

  /// The navigation property to the entity that a request creates or changes. The entity may have any type of the
  /// service.
  static let affected = "AffectedEntity"
  static let dependents = "DependentRequests"
  static let headers = "CustomHeaders"

  private static let event = type(
    "Event", key: ["EventID"],
    [
      ("EventID", .int64), ("Time", .dateTimeOffset), ("EventType", .string), ("DefiningQuery", .string),
      ("Strategy", .string), ("Rows", .int64), ("Bytes", .int64), ("Pages", .int32), ("Milliseconds", .int64),
      ("Details", .string), ("ErrorCode", .int32),
    ], required: ["EventID", "Time", "EventType"])

  private static let queueProperties: [(String, EdmPrimitiveType)] = [
    ("RequestID", .int64), ("Status", .string), ("RequestMethod", .string), ("RequestURL", .string),
    ("RequestBody", .string), ("CustomTag", .string), ("Category", .string), ("TransactionID", .int64),
    ("Conflict", .boolean), ("EntityPath", .string), ("ETag", .string),
  ]

  private static let archiveProperties: [(String, EdmPrimitiveType)] = [
    ("RequestID", .int64), ("CustomTag", .string), ("HTTPStatusCode", .int32), ("Code", .string),
    ("Message", .string), ("InnerError", .string), ("Domain", .string), ("RequestMethod", .string),
    ("RequestURL", .string), ("RequestBody", .string), ("TransactionID", .int64), ("Held", .boolean),
    ("Conflict", .boolean), ("Reason", .string), ("Time", .dateTimeOffset), ("Category", .string),
    ("EntityPath", .string), ("ETag", .string),
  ]

  private static let header = type(
    "CustomHeader", key: ["Position"], [("Position", .int32), ("Name", .string), ("Value", .string)],
    required: ["Position", "Name", "Value"])

  private static func request(_ name: String, _ properties: [(String, EdmPrimitiveType)]) -> EdmEntityType {
    var type = type(
      name, key: ["RequestID"], properties,
      required: ["RequestID", "TransactionID", "Status", "Held", "Conflict"])
    var headers = EdmNavigationProperty(name: headers, type: .collection(.named("Larder.CustomHeader")))
    headers.containsTarget = true
    type.navigationProperties = [
      EdmNavigationProperty(name: affected, type: .abstract(.entityType), nullable: true), headers,
      EdmNavigationProperty(name: dependents, type: .collection(.named("Larder.\(name)"))),
    ]
    return type
  }

  private static func type(
    _ name: String, key: [String], _ properties: [(String, EdmPrimitiveType)], required: Set<String>
  ) -> EdmEntityType {
    var type = EdmEntityType(namespace: namespace, name: name)
    type.key = key.map { EdmPropertyRef(path: $0) }
    for (name, primitive) in properties {
      var property = EdmProperty(name: name, type: .primitive(primitive))
      property.nullable = !required.contains(name)
      type.properties.append(property)
    }
    return type
  }
}

/// The entity sets of the store itself, in addition to those of the service.
enum StoreSet: String, CaseIterable, Sendable {
  case log = "EventLog"
  case archive = "ErrorArchive"
  case queue = "RequestQueue"

  /// The states of the requests that the set contains.
  var states: [RequestState] {
    switch self {
    case .log: []
    case .archive: [.archived, .held]
    case .queue: [.queued, .sent]
    }
  }
}
