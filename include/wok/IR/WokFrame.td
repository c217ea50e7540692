//===- WokFrame.td - Programs with breaks ------------------*- tablegen -*-===//

#ifndef WOK_IR_WOKFRAME_TD
#define WOK_IR_WOKFRAME_TD

include "wok/IR/WokBase.td"

#endif // WOK_IR_WOKFRAME_TD
