import OData
import Storage

/// The last operations of a store as an entity set of its own: asked as any other set, `EventLog?$top=5`.
enum EventLog {
  static let setName = "EventLog"
  /// How many operations are kept.
  static let limit = 100

  /// One operation.
  struct Record: Codable, Sendable, Hashable {
    /// `Open`, `Download`, `Query`, `Clear`, `Metadata` …
    var type: String
    /// The defining query concerned.
    var query: String?
    /// The way that its download took.
    var way: String?
    var rows: Int64?
    var bytes: Int64?
    var pages: Int?
    var milliseconds: Int64?
    /// What was found on the way, and the error's message.
    var details: String?
    /// The error's number; nil for an operation that ended well.
    var errorCode: Int?
  }

  /// The log's own model.
  static let model: EdmModel = {
    var type = EdmEntityType(namespace: "Larder", name: "Event")
    type.key = [EdmPropertyRef(path: "EventID")]
    func property(_ name: String, _ primitive: EdmPrimitiveType, isNullable: Bool = true) {
      var property = EdmProperty(name: name, type: .primitive(primitive))
      property.nullable = isNullable
      type.properties.append(property)
    }
    property("EventID", .int64, isNullable: false)
    property("Time", .dateTimeOffset, isNullable: false)
    property("EventType", .string, isNullable: false)
    property("DefiningQuery", .string)
    property("Way", .string)
    property("Rows", .int64)
    property("Bytes", .int64)
    property("Pages", .int32)
    property("Milliseconds", .int64)
    property("Details", .string)
    property("ErrorCode", .int32)
    var container = EdmEntityContainer(namespace: "Larder", name: "Store")
    container.entitySets = [EdmEntitySet(name: setName, entityType: "Larder.Event")]
    var schema = EdmSchema(namespace: "Larder")
    schema.entityTypes = [type]
    schema.containers = [container]
    return EdmModel(version: .v401, schemas: [schema])
  }()

  private static let plan = ReplicaPlan(model: model)
  private static let binder = ODataBinder(model: model)

  /// Where each property stands in the record.
  private static let members = [
    "EventType": "type", "DefiningQuery": "query", "Way": "way", "Rows": "rows", "Bytes": "bytes", "Pages": "pages",
    "Milliseconds": "milliseconds", "Details": "details", "ErrorCode": "errorCode",
  ]

  /// The log's rows in the columns that a question expects.
  private static func source(_ table: EntityTable) -> String {
    var columns = SystemColumn.allCases.map { column in
      let value =
        switch column {
        case .id: "id"
        case .type, .queries, .state: "0"
        case .parent, .etag, .uri, .media: "NULL"
        }
      return "\(value) AS \"\(column.rawValue)\""
    }
    for column in table.columns {
      let value =
        switch column.name {
        case "EventID": "id"
        case "Time": "strftime('%Y-%m-%dT%H:%M:%fZ', time, 'unixepoch')"
        default: "json_extract(text, '$.\(members[column.name] ?? column.name)')"
        }
      columns.append("\(value) AS \"\(column.name)\"")
    }
    return "(SELECT \(columns.joined(separator: ",")) FROM larder_event)"
  }

  /// A question of the log; nil for one of something else. A set of that name of the service's own wins.
  static func question(_ text: String, store: OpenStore, serviceHas: Bool) throws -> PreparedQuestion? {
    let name = text.prefix { $0 != "?" && $0 != "/" && $0 != "(" }
    guard name == setName, !serviceHas else { return nil }
    let bound = try binder.bind(try ODataParser(.v401).relativeURL(text), text: text)
    let state = ReplicaState(
      version: 0, tables: plan.tables.map(source), links: [], search: plan.tables.map { _ in nil })
    let options = QueryWriter.Options(pageSize: store.parameters.answerPageSize)
    let readPlan = try QueryWriter(plan: plan, state: state, options: options).plan(bound)
    return PreparedQuestion(url: bound, plan: readPlan, model: model)
  }
}
