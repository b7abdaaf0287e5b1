/// An action or function.
struct OperationPlan {
  /// What an operation is bound to.
  enum Binding: Hashable {
    /// The service: an import.
    case service
    /// An entity, or the entities of a set, by the Swift name of their type.
    case entity(String)
    case entities(String)
  }

  /// How an operation is called.
  enum Form {
    /// A function of V4: parameters in the path.
    case function
    /// An action of V4: parameters in the body.
    case action
    /// A function import of V2 and V3: parameters in the query.
    case queryFunction(isPost: Bool)
  }

  var name: String
  /// The name in URLs: qualified, but for imports.
  var serviceName: String
  var binding: Binding
  var form: Form
  var documentation: [String]
  /// The advice not to use it; nil if there is none.
  var deprecation: String?
  var parameters: [Parameter]
  /// The Swift type of the result; nil if there is none.
  var result: String?
  /// Whether the result is a stream.
  var isStream = false
  var isResultOptional: Bool

  /// A parameter that a call gives.
  struct Parameter {
    var name: String
    var serviceName: String
    var type: String
    var isOptional: Bool
    /// Whether a call without a value leaves the parameter out, instead of sending null.
    var isOmittable = false
    /// The qualified name of its type in the service if it is an entity.
    var entityType: String?
  }
}
