//===- WokOps.td - All operations of the dialect -----------*- tablegen -*-===//

#ifndef WOK_IR_WOKOPS_TD
#define WOK_IR_WOKOPS_TD

include "wok/IR/WokElementwise.td"
include "wok/IR/WokReductions.td"
include "wok/IR/WokMovement.td"
include "wok/IR/WokStructure.td"
include "wok/IR/WokFrame.td"

#endif // WOK_IR_WOKOPS_TD
