// Arithmetic (URL Conventions 4.01 §5.1.1.2), rounding (§5.1.1.9).
extension ODataOperand where Value: ODataNumeric {
  /// `add`
  public static func + (left: ODataOperand, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.add, left.expression, right.expression))
  }

  /// `add` a value.
  public static func + (left: ODataOperand, right: Value) -> ODataOperand {
    ODataOperand(.binary(.add, left.expression, right.odataExpression))
  }

  /// `add`, with the value first.
  public static func + (left: Value, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.add, left.odataExpression, right.expression))
  }

  /// `sub`
  public static func - (left: ODataOperand, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.subtract, left.expression, right.expression))
  }

  /// `sub` a value.
  public static func - (left: ODataOperand, right: Value) -> ODataOperand {
    ODataOperand(.binary(.subtract, left.expression, right.odataExpression))
  }

  /// `sub`, with the value first.
  public static func - (left: Value, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.subtract, left.odataExpression, right.expression))
  }

  /// `mul`
  public static func * (left: ODataOperand, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.multiply, left.expression, right.expression))
  }

  /// `mul` a value.
  public static func * (left: ODataOperand, right: Value) -> ODataOperand {
    ODataOperand(.binary(.multiply, left.expression, right.odataExpression))
  }

  /// `mul`, with the value first.
  public static func * (left: Value, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.multiply, left.odataExpression, right.expression))
  }

  /// `div`: the result for two integers is an integer.
  public static func / (left: ODataOperand, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.divide, left.expression, right.expression))
  }

  /// `div` by a value.
  public static func / (left: ODataOperand, right: Value) -> ODataOperand {
    ODataOperand(.binary(.divide, left.expression, right.odataExpression))
  }

  /// `div`, with the value first.
  public static func / (left: Value, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.divide, left.odataExpression, right.expression))
  }

  /// `mod`
  public static func % (left: ODataOperand, right: ODataOperand) -> ODataOperand {
    ODataOperand(.binary(.modulo, left.expression, right.expression))
  }

  /// `mod` a value.
  public static func % (left: ODataOperand, right: Value) -> ODataOperand {
    ODataOperand(.binary(.modulo, left.expression, right.odataExpression))
  }

  /// The negated number.
  public static prefix func - (operand: ODataOperand) -> ODataOperand { ODataOperand(.negate(operand.expression)) }

  /// `divby`: the result has a fraction, for integers too (4.01).
  public func divided(by divisor: ODataOperand) -> ODataOperand<ODataDecimal> {
    ODataOperand<ODataDecimal>(.binary(.divideBy, expression, divisor.expression))
  }

  /// Treats the number as a wider type, so that it can be combined with operands of that type. Nothing is written for
  /// it: services promote numbers automatically (§5.1.1.2).
  public func widened<Wider: ODataNumeric>(to type: Wider.Type) -> ODataOperand<Wider> {
    ODataOperand<Wider>(of: expression)
  }

  /// `round`
  public func round() -> ODataOperand { ODataOperand(.call(.round, [expression])) }
  /// `floor`
  public func floor() -> ODataOperand { ODataOperand(.call(.floor, [expression])) }
  /// `ceiling`
  public func ceiling() -> ODataOperand { ODataOperand(.call(.ceiling, [expression])) }
}

// Arithmetic with a timestamp or date and a duration (§5.1.1.2).
extension ODataOperand where Value: ODataDated {
  /// `add` a duration.
  public static func + (left: ODataOperand, right: ODataDuration) -> ODataOperand {
    ODataOperand(.binary(.add, left.expression, right.odataExpression))
  }

  /// `sub` a duration.
  public static func - (left: ODataOperand, right: ODataDuration) -> ODataOperand {
    ODataOperand(.binary(.subtract, left.expression, right.odataExpression))
  }

  /// The time between two timestamps or dates.
  public static func - (left: ODataOperand, right: ODataOperand) -> ODataOperand<ODataDuration> {
    ODataOperand<ODataDuration>(.binary(.subtract, left.expression, right.expression))
  }
}
