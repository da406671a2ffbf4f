/* What a probe costs, measured once a run. */
#ifndef PM_RUNTIME_CALIBRATION_H
#define PM_RUNTIME_CALIBRATION_H

/* Before the first event of this process: only where there can be any, for it takes 100 us. */
void pm_calibrate(void);

#endif
